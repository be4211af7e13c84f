#include "preload/cupti_clock.h"

#include "preload/arena.h"
#include "preload/cupti_api.h"
#include "preload/recorder.h"

namespace teller::collector {

namespace {

constexpr int kBrackets = 16;  // readings of one measurement, of which the tightest counts

std::atomic<std::int64_t> g_offset_ns{0};
std::atomic<bool> g_measured{false};

std::uint64_t CUPTIAPI timestamp() noexcept {
  return now_ns();
}

ring::CudaState* state() noexcept {
  ring::ArenaHeader* arena = g_arena.load(std::memory_order_acquire);
  return arena == nullptr ? nullptr : &arena->cuda;
}

void say_clock(ring::CudaClock clock) noexcept {
  if (ring::CudaState* cuda = state()) {
    cuda->clock.store(static_cast<std::uint32_t>(clock), std::memory_order_relaxed);
  }
}

struct Offset {
  std::int64_t ns = 0;
  std::uint64_t error_ns = 0;  // the true offset lies within this of it
  bool known = false;
};

// CUPTI's clock lies between two readings of ours: the closer they are, the better it is known.
Offset measure() noexcept {
  Offset best;
  for (int i = 0; i < kBrackets; ++i) {
    std::uint64_t cupti_ns = 0;
    const std::uint64_t before = now_ns();
    if (g_cupti.get_timestamp(&cupti_ns) != CUPTI_SUCCESS) continue;
    const std::uint64_t width = now_ns() - before;
    const std::uint64_t error = width / 2 + 1;
    if (best.known && error >= best.error_ns) continue;
    best = {static_cast<std::int64_t>(before + width / 2 - cupti_ns), error, true};
  }
  return best;
}

}  // namespace

void start_cupti_clock() noexcept {
  if (g_cupti.register_timestamp != nullptr &&
      g_cupti.register_timestamp(timestamp) == CUPTI_SUCCESS) {
    return say_clock(ring::CudaClock::kCallback);
  }
  if (g_cupti.get_timestamp == nullptr) return;
  g_measured.store(true, std::memory_order_relaxed);
  follow_cupti_clock();
}

void follow_cupti_clock() noexcept {
  if (!g_measured.load(std::memory_order_relaxed)) return;
  const Offset offset = measure();
  ring::CudaState* cuda = state();
  if (!offset.known || cuda == nullptr) return;
  g_offset_ns.store(offset.ns, std::memory_order_relaxed);
  if (cuda->clock_count.fetch_add(1, std::memory_order_relaxed) == 0) {
    cuda->clock_first_ns.store(offset.ns, std::memory_order_relaxed);
  }
  cuda->clock_offset_ns.store(offset.ns, std::memory_order_relaxed);
  cuda->clock_error_ns.store(offset.error_ns, std::memory_order_relaxed);
  say_clock(ring::CudaClock::kOffset);
}

std::uint64_t host_time(std::uint64_t cupti_ns) noexcept {
  if (cupti_ns == 0) return 0;
  return cupti_ns + static_cast<std::uint64_t>(g_offset_ns.load(std::memory_order_relaxed));
}

}  // namespace teller::collector
