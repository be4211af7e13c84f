#include "preload/ring_writer.h"

#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "preload/recorder.h"

namespace teller::collector {

namespace {

using ring::ArenaHeader;
using ring::RingHeader;
using ring::RingState;

pthread_key_t g_exit_key;
std::atomic<std::uint32_t> g_exit_key_state{0};  // 0 none, 1 being made, 2 ready

// Runs when a thread that has a ring ends. May run again if a later destructor of the program
// records.
void release_ring(void*) noexcept {
  ThreadState& state = t_state;
  RingHeader* ring = state.ring;
  state.ring = nullptr;
  // In a forked child the ring still belongs to the parent's thread.
  if (ring == nullptr || state.generation != current_generation()) return;
  ArenaHeader* arena = g_arena.load(std::memory_order_acquire);
  arena->ring_state[state.index].store(static_cast<std::uint32_t>(RingState::kClosed),
                                       std::memory_order_release);
}

void watch_thread_exit(RingHeader* ring) noexcept {
  std::uint32_t expected = 0;
  if (g_exit_key_state.compare_exchange_strong(expected, 1)) {
    bool made = pthread_key_create(&g_exit_key, release_ring) == 0;
    g_exit_key_state.store(made ? 2 : 0, std::memory_order_release);
  }
  // Without a key the ring stays with its thread for ever: a ring is lost, nothing else.
  if (g_exit_key_state.load(std::memory_order_acquire) == 2) pthread_setspecific(g_exit_key, ring);
}

bool try_take(ArenaHeader* arena, std::uint32_t index) noexcept {
  auto expected = static_cast<std::uint32_t>(RingState::kFree);
  return arena->ring_state[index].compare_exchange_strong(
      expected, static_cast<std::uint32_t>(RingState::kLive));
}

// Index of a ring that is now ours, or ring_count.
std::uint32_t take_ring(ArenaHeader* arena) noexcept {
  const std::uint32_t used = arena->rings_used.load(std::memory_order_acquire);
  for (std::uint32_t i = 0; i < used && i < arena->ring_count; ++i) {
    if (arena->ring_state[i].load(std::memory_order_relaxed) == 0 && try_take(arena, i)) return i;
  }
  for (;;) {
    std::uint32_t index = arena->rings_used.load(std::memory_order_acquire);
    if (index >= arena->ring_count) return arena->ring_count;
    if (!arena->rings_used.compare_exchange_strong(index, index + 1)) continue;
    if (try_take(arena, index)) return index;
  }
}

void introduce_thread(RingHeader* ring) noexcept {
  char name[17] = {};
  prctl(PR_GET_NAME, name);
  const auto name_bytes = static_cast<std::uint32_t>(strnlen(name, 16));
  const ring::ThreadRecord fixed{static_cast<std::uint64_t>(syscall(SYS_gettid)), name_bytes, 0};
  Record record{ring::RecordType::kThread};
  record.time_ns = now_ns();
  record.fixed = &fixed;
  record.fixed_bytes = sizeof fixed;
  record.text = name;
  record.text_bytes = name_bytes;
  write(ring, record);
}

}  // namespace

constinit thread_local ThreadState t_state{};

RingHeader* ring_at(ArenaHeader* arena, std::uint32_t index) noexcept {
  char* base = reinterpret_cast<char*>(arena) + arena->ring_offset;
  return reinterpret_cast<RingHeader*>(base + std::uint64_t{index} * arena->ring_stride);
}

void count_drop(RingHeader* ring, bool is_range) noexcept {
  ArenaHeader* arena = g_arena.load(std::memory_order_acquire);
  if (arena->stop.load(std::memory_order_relaxed) != 0) return;
  bump(ring->dropped);
  if (is_range) bump(ring->dropped_ranges);
}

__attribute__((noinline)) RingHeader* acquire_ring() noexcept {
  ThreadState& state = t_state;
  state.ring = nullptr;
  if (state.retry_after > 0) {
    --state.retry_after;
    return nullptr;
  }
  const int saved_errno = errno;
  RingHeader* ring = nullptr;
  if (ensure_arena()) {
    ArenaHeader* arena = g_arena.load(std::memory_order_acquire);
    const std::uint32_t index = take_ring(arena);
    if (index < arena->ring_count) {
      ring = ring_at(arena, index);
      ring->cached_tail = ring->tail.load(std::memory_order_acquire);
      ring->open_call_depth.store(0, std::memory_order_relaxed);
      std::memset(ring->stacks, 0, sizeof ring->stacks);
      ring->kept_free = 0;
      ring->captures = 0;
      state.ring = ring;
      state.index = index;
      state.generation = current_generation();
      introduce_thread(ring);
      watch_thread_exit(ring);
    } else {
      state.retry_after = 1000;
    }
  }
  errno = saved_errno;
  return ring;
}

void count_without_ring() noexcept {
  ArenaHeader* arena = g_arena.load(std::memory_order_acquire);
  if (arena == nullptr || current_generation() == 0) return;
  if (arena->stop.load(std::memory_order_relaxed) != 0) return;
  arena->events_without_ring.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace teller::collector
