#include "preload/nvtx_source.h"

#include <nvtx3/nvToolsExt.h>

#include <atomic>
#include <cstddef>
#include <cstring>

#include "preload/nvtx_cuda.h"
#include "preload/nvtx_handles.h"
#include "preload/nvtx_payload.h"
#include "preload/nvtx_table.h"

namespace teller::collector {

namespace {

std::atomic<std::uint32_t> g_attached{0};

// What push and pop answer without a tool. A program that prints its depth prints the same with us.
constexpr int kNoTracking = NVTX_NO_PUSH_POP_TRACKING;

void read_payload(const nvtxEventAttributes_t& attributes, NvtxEvent* event) noexcept {
  const auto& payload = attributes.payload;
  std::uint16_t flags = ring::kHasValue;
  switch (attributes.payloadType) {
    case NVTX_PAYLOAD_TYPE_UNSIGNED_INT64:
      event->value = payload.ullValue;
      break;
    case NVTX_PAYLOAD_TYPE_INT64:
      event->value = static_cast<std::uint64_t>(payload.llValue);
      flags |= ring::kValueSigned;
      break;
    case NVTX_PAYLOAD_TYPE_UNSIGNED_INT32:
      event->value = payload.uiValue;
      break;
    case NVTX_PAYLOAD_TYPE_INT32:
      event->value = static_cast<std::uint64_t>(static_cast<std::int64_t>(payload.iValue));
      flags |= ring::kValueSigned;
      break;
    case NVTX_PAYLOAD_TYPE_DOUBLE:
    case NVTX_PAYLOAD_TYPE_FLOAT: {
      const bool wide = attributes.payloadType == NVTX_PAYLOAD_TYPE_DOUBLE;
      const double value = wide ? payload.dValue : static_cast<double>(payload.fValue);
      std::memcpy(&event->value, &value, sizeof value);
      flags |= ring::kValueFloat;
      break;
    }
    default:
      return;
  }
  event->flags |= flags;
}

// Calls `use` with the event and its message. Text in it lives as long as the call.
template <typename Use>
auto with_message(const nvtxEventAttributes_t& attributes, NvtxEvent& event, Use use) {
  if (attributes.messageType == NVTX_MESSAGE_TYPE_UNICODE) {
    const WideText wide(attributes.message.unicode);
    event.text = wide.text();
    return use(event);
  }
  if (attributes.messageType == NVTX_MESSAGE_TYPE_ASCII) {
    event.text = text_of(attributes.message.ascii);
  } else if (attributes.messageType == NVTX_MESSAGE_TYPE_REGISTERED) {
    event.text = registered_text(attributes.message.registered);
  }
  return use(event);
}

// Calls `use` with the event that `attributes` describes.
template <typename Use>
auto with_event(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes, Use use) {
  NvtxEvent event;
  event.domain = domain_id(domain);
  // An older caller's struct may be shorter than ours; one without a message tells nothing.
  constexpr std::size_t kNeeded = offsetof(nvtxEventAttributes_t, message) + sizeof(void*);
  if (attributes == nullptr || attributes->size < kNeeded) return use(event);
  event.category = attributes->category;
  if (is_extended(attributes->payloadType)) {
    return with_payloads(payloads_of(*attributes), event,
                         [&](NvtxEvent& with) { return with_message(*attributes, with, use); });
  }
  if (attributes->payloadType != NVTX_PAYLOAD_UNKNOWN) read_payload(*attributes, &event);
  return with_message(*attributes, event, use);
}

NvtxEvent plain(const Text& text) noexcept {
  NvtxEvent event;
  event.text = text;
  return event;
}

int push(const NvtxEvent& event) noexcept {
  record_push(event);
  return kNoTracking;
}

// Marks.
void NVTX_API mark_ex(const nvtxEventAttributes_t* a) noexcept {
  with_event(nullptr, a, [](const NvtxEvent& event) { record_mark(event); });
}
void NVTX_API mark_a(const char* message) noexcept {
  record_mark(plain(text_of(message)));
}
void NVTX_API mark_w(const wchar_t* message) noexcept {
  record_mark(plain(WideText(message).text()));
}
void NVTX_API domain_mark_ex(nvtxDomainHandle_t d, const nvtxEventAttributes_t* a) noexcept {
  with_event(d, a, [](const NvtxEvent& event) { record_mark(event); });
}

// Nested ranges.
int NVTX_API push_ex(const nvtxEventAttributes_t* a) noexcept {
  return with_event(nullptr, a, [](const NvtxEvent& event) { return push(event); });
}
int NVTX_API push_a(const char* message) noexcept {
  return push(plain(text_of(message)));
}
int NVTX_API push_w(const wchar_t* message) noexcept {
  return push(plain(WideText(message).text()));
}
int NVTX_API pop() noexcept {
  record_pop(0);
  return kNoTracking;
}
int NVTX_API domain_push_ex(nvtxDomainHandle_t d, const nvtxEventAttributes_t* a) noexcept {
  return with_event(d, a, [](const NvtxEvent& event) { return push(event); });
}
int NVTX_API domain_pop(nvtxDomainHandle_t d) noexcept {
  record_pop(domain_id(d));
  return kNoTracking;
}

// Ranges that another thread may end.
nvtxRangeId_t NVTX_API start_ex(const nvtxEventAttributes_t* a) noexcept {
  return with_event(nullptr, a, [](const NvtxEvent& event) { return record_start(event); });
}
nvtxRangeId_t NVTX_API start_a(const char* message) noexcept {
  return record_start(plain(text_of(message)));
}
nvtxRangeId_t NVTX_API start_w(const wchar_t* message) noexcept {
  return record_start(plain(WideText(message).text()));
}
void NVTX_API end(nvtxRangeId_t id) noexcept {
  record_end(0, id);
}
nvtxRangeId_t NVTX_API domain_start_ex(nvtxDomainHandle_t d,
                                       const nvtxEventAttributes_t* a) noexcept {
  return with_event(d, a, [](const NvtxEvent& event) { return record_start(event); });
}
void NVTX_API domain_end(nvtxDomainHandle_t d, nvtxRangeId_t id) noexcept {
  record_end(domain_id(d), id);
}

// Names.
void name_category(nvtxDomainHandle_t d, std::uint32_t category, const Text& name) noexcept {
  define(ring::DefinitionKind::kCategory, domain_id(d), category, name.data, name.bytes);
}
void NVTX_API category_a(std::uint32_t category, const char* name) noexcept {
  name_category(nullptr, category, text_of(name));
}
void NVTX_API category_w(std::uint32_t category, const wchar_t* name) noexcept {
  name_category(nullptr, category, WideText(name).text());
}
void NVTX_API domain_category_a(nvtxDomainHandle_t d, std::uint32_t c, const char* name) noexcept {
  name_category(d, c, text_of(name));
}
void NVTX_API domain_category_w(nvtxDomainHandle_t d, std::uint32_t c,
                                const wchar_t* name) noexcept {
  name_category(d, c, WideText(name).text());
}
void name_thread(std::uint32_t tid, const Text& name) noexcept {
  define(ring::DefinitionKind::kThreadName, 0, tid, name.data, name.bytes);
}
void NVTX_API thread_a(std::uint32_t tid, const char* name) noexcept {
  name_thread(tid, text_of(name));
}
void NVTX_API thread_w(std::uint32_t tid, const wchar_t* name) noexcept {
  name_thread(tid, WideText(name).text());
}

nvtxDomainHandle_t NVTX_API domain_create_a(const char* name) noexcept {
  return create_domain(text_of(name));
}
nvtxDomainHandle_t NVTX_API domain_create_w(const wchar_t* name) noexcept {
  return create_domain(WideText(name).text());
}

nvtxStringHandle_t NVTX_API register_a(nvtxDomainHandle_t d, const char* string) noexcept {
  return register_string(d, text_of(string));
}
nvtxStringHandle_t NVTX_API register_w(nvtxDomainHandle_t d, const wchar_t* string) noexcept {
  return register_string(d, WideText(string).text());
}

const TableEntry kCore[] = {
    {NVTX_CBID_CORE_MarkEx, erase(mark_ex)},
    {NVTX_CBID_CORE_MarkA, erase(mark_a)},
    {NVTX_CBID_CORE_MarkW, erase(mark_w)},
    {NVTX_CBID_CORE_RangeStartEx, erase(start_ex)},
    {NVTX_CBID_CORE_RangeStartA, erase(start_a)},
    {NVTX_CBID_CORE_RangeStartW, erase(start_w)},
    {NVTX_CBID_CORE_RangeEnd, erase(end)},
    {NVTX_CBID_CORE_RangePushEx, erase(push_ex)},
    {NVTX_CBID_CORE_RangePushA, erase(push_a)},
    {NVTX_CBID_CORE_RangePushW, erase(push_w)},
    {NVTX_CBID_CORE_RangePop, erase(pop)},
    {NVTX_CBID_CORE_NameCategoryA, erase(category_a)},
    {NVTX_CBID_CORE_NameCategoryW, erase(category_w)},
    {NVTX_CBID_CORE_NameOsThreadA, erase(thread_a)},
    {NVTX_CBID_CORE_NameOsThreadW, erase(thread_w)},
};

const TableEntry kCore2[] = {
    {NVTX_CBID_CORE2_DomainMarkEx, erase(domain_mark_ex)},
    {NVTX_CBID_CORE2_DomainRangeStartEx, erase(domain_start_ex)},
    {NVTX_CBID_CORE2_DomainRangeEnd, erase(domain_end)},
    {NVTX_CBID_CORE2_DomainRangePushEx, erase(domain_push_ex)},
    {NVTX_CBID_CORE2_DomainRangePop, erase(domain_pop)},
    {NVTX_CBID_CORE2_DomainNameCategoryA, erase(domain_category_a)},
    {NVTX_CBID_CORE2_DomainNameCategoryW, erase(domain_category_w)},
    {NVTX_CBID_CORE2_DomainRegisterStringA, erase(register_a)},
    {NVTX_CBID_CORE2_DomainRegisterStringW, erase(register_w)},
    {NVTX_CBID_CORE2_DomainCreateA, erase(domain_create_a)},
    {NVTX_CBID_CORE2_DomainCreateW, erase(domain_create_w)},
};

}  // namespace

bool attach_nvtx(const void* (*get_export_table)(std::uint32_t)) noexcept {
  if (get_export_table == nullptr || !ensure_arena()) return false;
  const auto* callbacks =
      static_cast<const NvtxExportTableCallbacks*>(get_export_table(NVTX_ETID_CALLBACKS));
  if (callbacks == nullptr || callbacks->struct_size < sizeof *callbacks) return false;
  fill_table(*callbacks, NVTX_CB_MODULE_CORE, kCore);
  fill_table(*callbacks, NVTX_CB_MODULE_CORE2, kCore2);
  attach_cuda_names(*callbacks);
  const auto* version =
      static_cast<const NvtxExportTableVersionInfo*>(get_export_table(NVTX_ETID_VERSIONINFO));
  if (version != nullptr && version->struct_size >= sizeof *version) {
    version->SetInjectionNvtxVersion(NVTX_VERSION);
  }
  g_attached.fetch_add(1, std::memory_order_relaxed);
  return true;
}

std::uint32_t nvtx_attach_count() noexcept {
  return g_attached.load(std::memory_order_relaxed);
}

}  // namespace teller::collector
