#include "preload/nvtx_handles.h"

#include <atomic>
#include <cstdlib>
#include <cstring>

namespace teller::collector {

namespace {

std::atomic<std::uint32_t> g_next_domain{1};
std::atomic<std::uint32_t> g_next_string{1};

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

}  // namespace

std::uint32_t domain_id(nvtxDomainHandle_t domain) noexcept {
  if (domain == nullptr) return 0;
  const std::uint32_t id = number_in(kDomainTag, domain);
  const bool known = id != 0 && id < g_next_domain.load(std::memory_order_relaxed);
  return known ? id : invalid_domain();
}

nvtxDomainHandle_t create_domain(const Text& name) noexcept {
  const std::uint32_t id = g_next_domain.fetch_add(1, std::memory_order_relaxed);
  define(ring::DefinitionKind::kDomain, 0, id, name.data, name.bytes);
  return handle_of<nvtxDomainHandle_t>(kDomainTag, id);
}
nvtxStringHandle_t register_string(nvtxDomainHandle_t d, const Text& text) noexcept {
  const std::uint32_t id = g_next_string.fetch_add(1, std::memory_order_relaxed);
  const bool kept = define(ring::DefinitionKind::kString, domain_id(d), id, text.data, text.bytes);
  return kept ? handle_of<nvtxStringHandle_t>(kStringTag, id) : keep_copy(text);
}
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

}  // namespace teller::collector
