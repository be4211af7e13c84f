#include "preload/nvtx_source.h"

#include <nvtx3/nvToolsExt.h>

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <cwchar>

#include "preload/recorder.h"

namespace teller::collector {

namespace {

std::atomic<std::uint32_t> g_attached{0};
std::atomic<std::uint32_t> g_next_domain{1};
std::atomic<std::uint32_t> g_next_string{1};

// What push and pop answer without a tool. A program that prints its depth prints the same with us.
constexpr int kNoTracking = NVTX_NO_PUSH_POP_TRACKING;

// A wide string as UTF-8 on the stack; longer ones are cut, as the limit of text_of() would be too
// much stack.
class WideText {
 public:
  explicit WideText(const wchar_t* wide) noexcept {
    if (wide == nullptr) return;
    for (; *wide != 0; ++wide) {
      if (used_ + 4 > sizeof buffer_) {
        cut_ = true;
        break;
      }
      append(static_cast<std::uint32_t>(*wide));
    }
  }
  Text text() const noexcept { return {buffer_, used_, 0, cut_}; }

 private:
  void put(std::uint32_t byte) noexcept { buffer_[used_++] = static_cast<char>(byte); }
  void append(std::uint32_t code) noexcept {
    if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) code = 0xfffd;
    if (code < 0x80) return put(code);
    if (code < 0x800) {
      put(0xc0 | code >> 6);
    } else {
      if (code < 0x10000) {
        put(0xe0 | code >> 12);
      } else {
        put(0xf0 | code >> 18);
        put(0x80 | (code >> 12 & 0x3f));
      }
      put(0x80 | (code >> 6 & 0x3f));
    }
    put(0x80 | (code & 0x3f));
  }

  char buffer_[4096];
  std::uint32_t used_ = 0;
  bool cut_ = false;
};

// A handle that we gave out is a tag over a number, never an address: a handle that the program
// made up is recognised without being followed. Without a tool nobody would follow it either.
enum Tag : std::uintptr_t {
  kDomainTag = std::uintptr_t{0xd0317e11} << 32,
  kStringTag = std::uintptr_t{0x51317e11} << 32,  // the number is its id in the definitions
  kCopyTag = std::uintptr_t{0xc0317e11} << 32,    // the definitions were full: a place in g_copies
};
constexpr std::uintptr_t kNumberMask = 0xffffffff;
static_assert(sizeof(std::uintptr_t) == 8);

template <typename Handle>
Handle handle_of(Tag tag, std::uint32_t number) noexcept {
  return reinterpret_cast<Handle>(tag | number);
}

// The number in a handle of that tag; 0, which is no number, in another.
template <typename Handle>
std::uint32_t number_in(Tag tag, Handle handle) noexcept {
  const auto bits = reinterpret_cast<std::uintptr_t>(handle);
  return (bits & ~kNumberMask) == tag ? static_cast<std::uint32_t>(bits & kNumberMask) : 0;
}

// Events of a made-up domain stay apart: in the default domain their pops would end its ranges.
constexpr std::uint32_t kInvalidDomain = 0x7ffffffe;
std::atomic<bool> g_invalid_domain_named{false};

__attribute__((noinline)) std::uint32_t invalid_domain() noexcept {
  if (!g_invalid_domain_named.exchange(true, std::memory_order_relaxed)) {
    const Text name = text_of("(invalid domain handle)");
    define(ring::DefinitionKind::kDomain, 0, kInvalidDomain, name.data, name.bytes);
  }
  return kInvalidDomain;
}

// A default domain is a null handle and id 0.
std::uint32_t domain_id(nvtxDomainHandle_t domain) noexcept {
  if (domain == nullptr) return 0;
  const std::uint32_t id = number_in(kDomainTag, domain);
  const bool known = id != 0 && id < g_next_domain.load(std::memory_order_relaxed);
  return known ? id : invalid_domain();
}

// Strings that were registered when the definitions were full. What does not fit here either has no
// text.
constexpr std::uint32_t kCopies = 16384;
std::atomic<const char*> g_copies[kCopies];
std::atomic<std::uint32_t> g_next_copy{1};

nvtxStringHandle_t keep_copy(const Text& text) noexcept {
  if (g_next_copy.load(std::memory_order_relaxed) >= kCopies) return nullptr;
  const std::uint32_t place = g_next_copy.fetch_add(1, std::memory_order_relaxed);
  if (place >= kCopies) return nullptr;
  auto* copy = static_cast<char*>(std::malloc(std::size_t{text.bytes} + 1));
  if (copy == nullptr) return nullptr;
  if (text.bytes != 0) std::memcpy(copy, text.data, text.bytes);
  copy[text.bytes] = 0;
  g_copies[place].store(copy, std::memory_order_release);
  return handle_of<nvtxStringHandle_t>(kCopyTag, place);
}

// No text for a handle that is not ours.
Text registered_text(nvtxStringHandle_t handle) noexcept {
  Text text;
  const std::uint32_t id = number_in(kStringTag, handle);
  if (id != 0) {
    text.string_id = id;
    return text;
  }
  const std::uint32_t place = number_in(kCopyTag, handle);
  if (place == 0 || place >= kCopies) return text;
  return text_of(g_copies[place].load(std::memory_order_acquire));
}

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

// Calls `use` with the event that `attributes` describes. Text in it lives as long as the call.
template <typename Use>
auto with_event(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes, Use use) {
  NvtxEvent event;
  event.domain = domain_id(domain);
  // An older caller's struct may be shorter than ours; one without a message tells nothing.
  constexpr std::size_t kNeeded = offsetof(nvtxEventAttributes_t, message) + sizeof(void*);
  if (attributes == nullptr || attributes->size < kNeeded) return use(event);
  event.category = attributes->category;
  if (attributes->payloadType != NVTX_PAYLOAD_UNKNOWN) read_payload(*attributes, &event);
  if (attributes->messageType == NVTX_MESSAGE_TYPE_UNICODE) {
    const WideText wide(attributes->message.unicode);
    event.text = wide.text();
    return use(event);
  }
  if (attributes->messageType == NVTX_MESSAGE_TYPE_ASCII) {
    event.text = text_of(attributes->message.ascii);
  } else if (attributes->messageType == NVTX_MESSAGE_TYPE_REGISTERED) {
    event.text = registered_text(attributes->message.registered);
  }
  return use(event);
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

nvtxDomainHandle_t create_domain(const Text& name) noexcept {
  const std::uint32_t id = g_next_domain.fetch_add(1, std::memory_order_relaxed);
  define(ring::DefinitionKind::kDomain, 0, id, name.data, name.bytes);
  return handle_of<nvtxDomainHandle_t>(kDomainTag, id);
}
nvtxDomainHandle_t NVTX_API domain_create_a(const char* name) noexcept {
  return create_domain(text_of(name));
}
nvtxDomainHandle_t NVTX_API domain_create_w(const wchar_t* name) noexcept {
  return create_domain(WideText(name).text());
}

nvtxStringHandle_t register_string(nvtxDomainHandle_t d, const Text& text) noexcept {
  const std::uint32_t id = g_next_string.fetch_add(1, std::memory_order_relaxed);
  const bool kept = define(ring::DefinitionKind::kString, domain_id(d), id, text.data, text.bytes);
  return kept ? handle_of<nvtxStringHandle_t>(kStringTag, id) : keep_copy(text);
}
nvtxStringHandle_t NVTX_API register_a(nvtxDomainHandle_t d, const char* string) noexcept {
  return register_string(d, text_of(string));
}
nvtxStringHandle_t NVTX_API register_w(nvtxDomainHandle_t d, const wchar_t* string) noexcept {
  return register_string(d, WideText(string).text());
}

struct Entry {
  std::uint32_t id;
  NvtxFunctionPointer function;
};

template <typename Function>
NvtxFunctionPointer erase(Function* function) noexcept {
  return reinterpret_cast<NvtxFunctionPointer>(function);
}

const Entry kCore[] = {
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

const Entry kCore2[] = {
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

template <std::size_t kCount>
void fill(const NvtxExportTableCallbacks& callbacks, NvtxCallbackModule module,
          const Entry (&entries)[kCount]) noexcept {
  NvtxFunctionTable table = nullptr;
  unsigned int size = 0;
  if (callbacks.GetModuleFunctionTable(module, &table, &size) == 0 || table == nullptr) return;
  for (const Entry& entry : entries) {
    if (entry.id < size && table[entry.id] != nullptr) *table[entry.id] = entry.function;
  }
}

}  // namespace

bool attach_nvtx(const void* (*get_export_table)(std::uint32_t)) noexcept {
  if (get_export_table == nullptr || !ensure_arena()) return false;
  const auto* callbacks =
      static_cast<const NvtxExportTableCallbacks*>(get_export_table(NVTX_ETID_CALLBACKS));
  if (callbacks == nullptr || callbacks->struct_size < sizeof *callbacks) return false;
  fill(*callbacks, NVTX_CB_MODULE_CORE, kCore);
  fill(*callbacks, NVTX_CB_MODULE_CORE2, kCore2);
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
