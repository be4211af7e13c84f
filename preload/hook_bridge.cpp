#include "preload/hook_bridge.h"

#include <nvtx3/nvToolsExt.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>

#include "preload/nvtx_source.h"
#include "preload/recorder.h"
#include "preload/torch_observer.h"

namespace {

using teller::collector::NvtxEvent;

enum Route : std::uint32_t {
  kUnknown = 0,
  kNone = 1,    // nobody records
  kNvtx = 2,    // our own injection answers our copy of NVTX
  kDirect = 3,  // another tool has taken NVTX: record here, and tell the tool too
};

std::atomic<std::uint32_t> g_route{kUnknown};
nvtxDomainHandle_t g_domain;
// The domain's id in our own definitions on the direct route: far from those that NVTX gets.
constexpr std::uint32_t kDirectDomain = 0x7fffffff;

struct CategoryName {
  std::uint32_t category;
  const char* name;
};
constexpr CategoryName kCategories[] = {{kTellerStep, "STEP"},
                                        {kTellerFrontEnd, "FE"},
                                        {kTellerBackEnd, "BE"},
                                        {kTellerRecord, "RECORD"},
                                        {kTellerMeta, "META"}};

nvtxEventAttributes_t attributes_of(std::uint32_t category, const char* text) noexcept {
  nvtxEventAttributes_t attributes{};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.category = category;
  attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
  attributes.message.ascii = text;
  return attributes;
}

NvtxEvent event_of(std::uint32_t category, const char* text) noexcept {
  NvtxEvent event;
  event.domain = kDirectDomain;
  event.category = category;
  event.text = teller::collector::text_of(text);
  return event;
}

void define_direct() noexcept {
  using teller::ring::DefinitionKind;
  teller::collector::define(DefinitionKind::kDomain, 0, kDirectDomain, "teller", 6);
  for (const CategoryName& item : kCategories) {
    const auto name = teller::collector::text_of(item.name);
    teller::collector::define(DefinitionKind::kCategory, kDirectDomain, item.category, name.data,
                              name.bytes);
  }
}

std::uint32_t route() noexcept {
  return g_route.load(std::memory_order_acquire);
}

}  // namespace

// Holds the message in both forms: as NVTX is told it (registered once, so that a push copies no
// text), and as it is recorded on the direct route.
struct TellerHookMessage {
  nvtxEventAttributes_t attributes;
  NvtxEvent event;
};

int teller_hook_init() noexcept {
  if (route() != kUnknown) return route() != kNone;
  if (!teller::collector::ensure_arena()) {
    g_route.store(kNone, std::memory_order_release);
    return 0;
  }
  // Creating the domain makes our copy of NVTX look for its injection: ours, unless the user has
  // chosen another.
  const std::uint32_t before = teller::collector::nvtx_attach_count();
  g_domain = nvtxDomainCreateA("teller");
  const bool ours = teller::collector::nvtx_attach_count() != before;
  for (const CategoryName& item : kCategories) {
    nvtxDomainNameCategoryA(g_domain, item.category, item.name);
  }
  if (!ours) define_direct();
  g_route.store(ours ? kNvtx : kDirect, std::memory_order_release);
  return 1;
}

void teller_hook_push(std::uint32_t category, const char* text) noexcept {
  if (route() == kDirect) teller::collector::record_push(event_of(category, text));
  const nvtxEventAttributes_t attributes = attributes_of(category, text);
  nvtxDomainRangePushEx(g_domain, &attributes);
}

void teller_hook_pop() noexcept {
  if (route() == kDirect) teller::collector::record_pop(kDirectDomain);
  nvtxDomainRangePop(g_domain);
}

void teller_hook_mark(std::uint32_t category, const char* text) noexcept {
  if (route() == kDirect) teller::collector::record_mark(event_of(category, text));
  const nvtxEventAttributes_t attributes = attributes_of(category, text);
  nvtxDomainMarkEx(g_domain, &attributes);
}

std::uint64_t teller_hook_start(std::uint32_t category, const char* text) noexcept {
  if (route() == kDirect) return teller::collector::record_start(event_of(category, text));
  const nvtxEventAttributes_t attributes = attributes_of(category, text);
  return nvtxDomainRangeStartEx(g_domain, &attributes);
}

void teller_hook_end(std::uint64_t id) noexcept {
  if (route() == kDirect) return teller::collector::record_end(kDirectDomain, id);
  nvtxDomainRangeEnd(g_domain, id);
}

const TellerHookMessage* teller_hook_message(std::uint32_t category, const char* text) noexcept {
  const std::size_t bytes = std::strlen(text) + 1;
  auto* memory = static_cast<char*>(std::malloc(sizeof(TellerHookMessage) + bytes));
  if (memory == nullptr) return nullptr;
  char* copy = memory + sizeof(TellerHookMessage);
  std::memcpy(copy, text, bytes);
  auto* message =
      new (memory) TellerHookMessage{attributes_of(category, copy), event_of(category, copy)};
  nvtxStringHandle_t registered = nvtxDomainRegisterStringA(g_domain, copy);
  if (registered != nullptr) {
    message->attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    message->attributes.message.registered = registered;
  }
  return message;
}

void teller_hook_push_message(const TellerHookMessage* message) noexcept {
  if (route() == kDirect) teller::collector::record_push(message->event);
  nvtxDomainRangePushEx(g_domain, &message->attributes);
}

std::uint64_t teller_hook_start_message(const TellerHookMessage* message) noexcept {
  if (route() == kDirect) return teller::collector::record_start(message->event);
  return nvtxDomainRangeStartEx(g_domain, &message->attributes);
}

const char* teller_hook_observe_torch(const char* version) noexcept {
  return teller::collector::observe_torch(version);
}

void teller_hook_note(const char* key, const char* value) noexcept {
  teller::collector::note(key, value);
}
