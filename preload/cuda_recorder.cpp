#include "preload/cuda_recorder.h"

#include <algorithm>
#include <cerrno>

#include "preload/ring_writer.h"

namespace teller::collector {

namespace {

using ring::ArenaHeader;
using ring::RecordType;
using ring::RingHeader;

// Waits a moment for the recorder to make room. False if that is no use: nothing is kept any more,
// `budget` is used up, or the recorder has given no sign of life since a wait for it was in vain.
bool wait_for_recorder(WaitBudget& budget) noexcept {
  ArenaHeader* arena = g_arena.load(std::memory_order_acquire);
  const std::uint64_t drains = arena->drains.load(std::memory_order_acquire);
  if (!budget.used) budget.drains = drains;
  budget.used = true;
  if (budget.left_ns == 0 && drains == budget.drains) {
    arena->given_up.store(drains + 1, std::memory_order_relaxed);
  }
  if (budget.left_ns == 0 || arena->stop.load(std::memory_order_relaxed) != 0 ||
      arena->given_up.load(std::memory_order_relaxed) == drains + 1) {
    return false;
  }
  const int saved_errno = errno;
  const std::uint64_t begin = now_ns();
  const timespec pause{0, 1000000};
  nanosleep(&pause, nullptr);
  const std::uint64_t waited = now_ns() - begin;
  budget.left_ns -= waited < budget.left_ns ? waited : budget.left_ns;
  errno = saved_errno;
  return true;
}

template <std::size_t kBytes>
void copy_name(const char* name, char (&to)[kBytes]) noexcept {
  const std::size_t bytes = name == nullptr ? 0 : strnlen(name, kBytes - 1);
  if (bytes != 0) std::memcpy(to, name, bytes);
  to[bytes] = 0;
}

void keep_launch(RingHeader* ring, const ring::ApiRecord& call, const LaunchedWork& work) noexcept {
  ring::Launch& launch = ring->launches[ring->next_launch++ % ring::kLaunches];
  const std::uint32_t sequence = launch.sequence.load(std::memory_order_relaxed);
  launch.sequence.store(sequence + 1, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  launch.correlation = call.correlation;
  launch.context = call.context;
  launch.graph = work.graph ? 1 : 0;
  launch.nested = ring->nested_launch;
  launch.begin_ns = call.begin_ns;
  copy_name(work.name, launch.name);
  launch.sequence.store(sequence + 2, std::memory_order_release);
}

// Of the outermost calls. A capture that was spoilt has ended too, though its end reports an error.
void count_captures(RingHeader* ring, const ring::ApiRecord& call,
                    const LaunchedWork& work) noexcept {
  if (work.begins_capture && call.result == 0) ++ring->captures;
  if (work.ends_capture && ring->captures > 0) --ring->captures;
}

// A copy of what another thread may be changing; false if it was.
bool read_launch(const ring::Launch& launch, ring::InFlightRecord* record,
                 char (&name)[ring::kLaunchNameBytes]) noexcept {
  const std::uint32_t before = launch.sequence.load(std::memory_order_acquire);
  if (before == 0 || (before & 1) != 0) return false;
  *record = {
      launch.begin_ns, launch.correlation, launch.context, launch.graph, 0, launch.nested, 0};
  std::memcpy(name, launch.name, sizeof name);
  std::atomic_thread_fence(std::memory_order_acquire);
  name[sizeof name - 1] = 0;
  record->name_bytes = static_cast<std::uint32_t>(strnlen(name, sizeof name));
  return launch.sequence.load(std::memory_order_relaxed) == before;
}

constexpr std::uint32_t kMostInFlight = 256;  // must leave room in a ring

// All latest launches of a context, whichever thread made them, before the call that reports its
// error: once per context, so it may take its time.
void record_in_flight(RingHeader* ring, std::uint32_t context) noexcept {
  ArenaHeader* arena = g_arena.load(std::memory_order_acquire);
  const std::uint32_t used =
      std::min(arena->rings_used.load(std::memory_order_acquire), arena->ring_count);
  std::uint32_t left = kMostInFlight;
  for (std::uint32_t index = 0; index < used; ++index) {
    for (const ring::Launch& launch : ring_at(arena, index)->launches) {
      if (left == 0) return;
      ring::InFlightRecord fixed{};
      char name[ring::kLaunchNameBytes];
      if (!read_launch(launch, &fixed, name) || fixed.context != context) continue;
      Record record{RecordType::kInFlight};
      record.time_ns = now_ns();
      record.fixed = &fixed;
      record.fixed_bytes = sizeof fixed;
      record.text = name;
      record.text_bytes = fixed.name_bytes;
      if (!write(ring, record)) count_drop(ring, false);
      --left;
    }
  }
}

// Contexts whose error has been reported: a process has few. Beyond, every failing call is a first.
std::atomic<std::uint32_t> g_failed_contexts[64];

bool is_first_of_context(std::uint32_t context) noexcept {
  for (std::atomic<std::uint32_t>& place : g_failed_contexts) {
    std::uint32_t expected = 0;
    if (place.compare_exchange_strong(expected, context + 1)) return true;
    if (expected == context + 1) return false;
  }
  return true;
}

}  // namespace

void record_call_begin(const CallBegin& begin) noexcept {
  RingGuard guard;
  RingHeader* ring = guard.get();
  if (ring == nullptr) return;
  const std::uint32_t depth = ring->open_call_depth.load(std::memory_order_relaxed);
  if (depth < ring::kOpenCalls) {
    ring::OpenCall& call = ring->open_calls[depth];
    call.begin_ns = begin.begin_ns;
    call.correlation = begin.correlation;
    call.driver = begin.driver ? 1 : 0;
    copy_name(begin.name, call.name);
  }
  ring->open_call_depth.store(depth + 1, std::memory_order_release);
}

void record_call_end(ring::ApiRecord call, const char* name, const LaunchedWork& work) noexcept {
  RingGuard guard;
  RingHeader* ring = guard.get();
  if (ring == nullptr) return count_without_ring();
  const std::uint32_t depth = ring->open_call_depth.load(std::memory_order_relaxed);
  if (depth > 0) ring->open_call_depth.store(depth - 1, std::memory_order_release);
  const bool launched = work.any && call.result == 0;
  if (depth > 1) {
    if (launched) ring->nested_launch = call.correlation;
  } else {
    count_captures(ring, call, work);
    if (launched && ring->captures == 0) keep_launch(ring, call, work);
    ring->nested_launch = 0;
  }
  const bool first = is_asynchronous_error(call.result) && is_first_of_context(call.context);
  if (first) record_in_flight(ring, call.context);
  const Text text = text_of(name);
  call.name_bytes = text.bytes;
  Record record{RecordType::kApiCall};
  record.flags = first ? ring::kAsyncError : 0;
  record.time_ns = now_ns();
  record.fixed = &call;
  record.fixed_bytes = sizeof call;
  record.text = text.data;
  record.text_bytes = text.bytes;
  if (!write(ring, record)) count_drop(ring, false);
}

bool is_asynchronous_error(std::int32_t result) noexcept {
  // Uncorrectable ECC and NVLink errors, illegal address, timeout, assert, hardware stack,
  // instruction, alignment, address space and launch errors. CUresult and cudaError_t agree on
  // them.
  constexpr std::int32_t kCodes[] = {214, 220, 226, 700, 702, 710, 714,
                                     715, 716, 717, 718, 719, 721};
  return std::find(std::begin(kCodes), std::end(kCodes), result) != std::end(kCodes);
}

bool capture_has_stopped() noexcept {
  ArenaHeader* arena = g_arena.load(std::memory_order_acquire);
  return arena != nullptr && arena->stop.load(std::memory_order_relaxed) != 0;
}

void record_device(ring::DeviceRecord activity, const char* name, WaitBudget& budget) noexcept {
  if (capture_has_stopped()) return;
  RingGuard guard;
  RingHeader* ring = guard.get();
  if (ring == nullptr) return count_without_ring();
  const Text text = text_of(name);
  activity.name_bytes = text.bytes;
  Record record{RecordType::kDevice};
  record.time_ns = activity.end_ns != 0 ? activity.end_ns : now_ns();
  record.fixed = &activity;
  record.fixed_bytes = sizeof activity;
  record.text = text.data;
  record.text_bytes = text.bytes;
  while (!write(ring, record)) {
    if (!wait_for_recorder(budget)) return count_drop(ring, false);
  }
}

}  // namespace teller::collector
