#include "preload/recorder.h"

#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace teller::collector {

namespace {

using ring::ArenaHeader;
using ring::DomainStack;
using ring::RecordHeader;
using ring::RecordType;
using ring::RingHeader;
using ring::RingState;

// Of one thread. Zero means: no ring yet.
struct ThreadState {
  RingHeader* ring;
  std::uint32_t generation;  // of the arena that the ring belongs to
  std::uint32_t index;
  std::uint32_t lost_depth;   // pushes lost before this thread had a ring
  std::uint32_t retry_after;  // events to let pass before looking for a ring again
  bool busy;                  // inside a record: a signal handler that records now would tear it
};

thread_local ThreadState t_state;
pthread_key_t g_exit_key;
std::atomic<std::uint32_t> g_exit_key_state{0};  // 0 none, 1 being made, 2 ready

void bump(std::atomic<std::uint64_t>& counter) noexcept {
  counter.store(counter.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

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

RingHeader* ring_at(ArenaHeader* arena, std::uint32_t index) noexcept {
  char* base = reinterpret_cast<char*>(arena) + arena->ring_offset;
  return reinterpret_cast<RingHeader*>(base + std::uint64_t{index} * arena->ring_stride);
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

char* reserve(RingHeader* ring, std::uint32_t size, std::uint64_t* new_head) noexcept {
  constexpr std::uint64_t kBytes = ring::kRingDataBytes;
  const std::uint64_t head = ring->head.load(std::memory_order_relaxed);
  const std::uint64_t position = head & (kBytes - 1);
  const std::uint64_t to_end = kBytes - position;
  const std::uint64_t need = to_end < size ? to_end + size : size;
  if (head + need - ring->cached_tail > kBytes) {
    ring->cached_tail = ring->tail.load(std::memory_order_acquire);
    if (head + need - ring->cached_tail > kBytes) return nullptr;
  }
  char* data = reinterpret_cast<char*>(ring) + ring::kRingHeaderBytes;
  *new_head = head + need;
  if (need == size) return data + position;
  const RecordHeader pad{static_cast<std::uint32_t>(to_end), 0, 0, 0};
  std::memcpy(data + position, &pad, 8);
  return data;
}

// One record of up to two fixed parts and a text.
struct Record {
  RecordType type;
  std::uint16_t flags = 0;
  std::uint64_t time_ns = 0;
  const void* fixed = nullptr;
  std::uint32_t fixed_bytes = 0;
  const std::uint64_t* words = nullptr;  // id, value
  std::uint32_t word_count = 0;
  const char* text = nullptr;
  std::uint32_t text_bytes = 0;
};

bool write(RingHeader* ring, const Record& record) noexcept {
  const std::uint32_t bytes = static_cast<std::uint32_t>(sizeof(RecordHeader)) +
                              record.fixed_bytes + record.word_count * 8 + record.text_bytes;
  const std::uint32_t size = ring::round_up_8(bytes);
  std::uint64_t new_head = 0;
  char* out = reserve(ring, size, &new_head);
  if (out == nullptr) return false;
  const RecordHeader header{size, static_cast<std::uint16_t>(record.type), record.flags,
                            record.time_ns};
  std::memcpy(out, &header, sizeof header);
  out += sizeof header;
  if (record.fixed_bytes != 0) std::memcpy(out, record.fixed, record.fixed_bytes);
  out += record.fixed_bytes;
  if (record.word_count != 0) std::memcpy(out, record.words, record.word_count * 8);
  out += record.word_count * 8;
  if (record.text_bytes != 0) std::memcpy(out, record.text, record.text_bytes);
  ring->head.store(new_head, std::memory_order_release);
  return true;
}

void count_drop(RingHeader* ring, bool is_range) noexcept {
  ArenaHeader* arena = g_arena.load(std::memory_order_acquire);
  if (arena->stop.load(std::memory_order_relaxed) != 0) return;
  bump(ring->dropped);
  if (is_range) bump(ring->dropped_ranges);
}

void introduce_thread(RingHeader* ring) noexcept {
  char name[17] = {};
  prctl(PR_GET_NAME, name);
  const auto name_bytes = static_cast<std::uint32_t>(strnlen(name, 16));
  const ring::ThreadRecord fixed{static_cast<std::uint64_t>(syscall(SYS_gettid)), name_bytes, 0};
  Record record{RecordType::kThread};
  record.time_ns = now_ns();
  record.fixed = &fixed;
  record.fixed_bytes = sizeof fixed;
  record.text = name;
  record.text_bytes = name_bytes;
  write(ring, record);
}

// A thread's first event, or its first after a fork.
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

// The ring of this thread for the time of one record; null if there is none or a record is being
// written already.
class RingGuard {
 public:
  RingGuard() noexcept {
    ThreadState& state = t_state;
    if (__builtin_expect(state.busy, 0)) return;
    state.busy = true;
    mine_ = true;
    const bool valid = state.ring != nullptr && state.generation == current_generation();
    ring_ = __builtin_expect(valid, 1) ? state.ring : acquire_ring();
  }
  ~RingGuard() {
    if (mine_) t_state.busy = false;
  }
  RingGuard(const RingGuard&) = delete;
  RingGuard& operator=(const RingGuard&) = delete;
  RingHeader* get() const noexcept { return ring_; }

 private:
  RingHeader* ring_ = nullptr;
  bool mine_ = false;
};

DomainStack& stack_of(RingHeader* ring, std::uint32_t domain) noexcept {
  return ring->stacks[domain % ring::kDomainSlots];
}

bool write_text(RingHeader* ring, RecordType type, const NvtxEvent& event,
                std::uint64_t id) noexcept {
  std::uint64_t words[2];
  Record record{type};
  record.flags = event.flags;
  if (id != 0) {
    words[record.word_count++] = id;
    record.flags |= ring::kHasId;
  }
  if ((event.flags & ring::kHasValue) != 0) words[record.word_count++] = event.value;
  const bool registered = event.text.string_id != 0;
  if (registered) record.flags |= ring::kRegistered;
  if (event.text.cut) record.flags |= ring::kCut;
  const ring::TextRecord fixed{event.domain, event.category,
                               registered ? event.text.string_id : event.text.bytes, 0};
  record.time_ns = now_ns();
  record.fixed = &fixed;
  record.fixed_bytes = sizeof fixed;
  record.words = words;
  record.text = event.text.data;
  record.text_bytes = registered ? 0 : event.text.bytes;
  if (!write(ring, record)) return false;
  if (event.text.cut) bump(ring->cut);
  return true;
}

bool write_plain(RingHeader* ring, RecordType type, std::uint32_t domain,
                 std::uint64_t id) noexcept {
  NvtxEvent event;
  event.domain = domain;
  return write_text(ring, type, event, id);
}

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

}  // namespace

Text text_of(const char* string) noexcept {
  Text text;
  if (string == nullptr) return text;
  text.data = string;
  const std::size_t bytes = strnlen(string, ring::kMaxTextBytes + std::size_t{1});
  text.cut = bytes > ring::kMaxTextBytes;
  text.bytes = text.cut ? ring::kMaxTextBytes : static_cast<std::uint32_t>(bytes);
  return text;
}

void record_push(const NvtxEvent& event) noexcept {
  RingGuard guard;
  RingHeader* ring = guard.get();
  if (ring == nullptr) {
    ++t_state.lost_depth;
    count_without_ring();
    return;
  }
  const bool written = write_text(ring, RecordType::kPush, event, 0);
  DomainStack& stack = stack_of(ring, event.domain);
  ++stack.depth;
  stack.dropped = (stack.dropped << 1) | (written ? 0u : 1u);
  if (!written) count_drop(ring, true);
}

void record_pop(std::uint32_t domain) noexcept {
  RingGuard guard;
  RingHeader* ring = guard.get();
  if (ring == nullptr) {
    if (t_state.lost_depth > 0) --t_state.lost_depth;
    count_without_ring();
    return;
  }
  DomainStack& stack = stack_of(ring, domain);
  bool push_was_dropped = false;
  if (stack.depth > 0) {
    push_was_dropped = (stack.dropped & 1) != 0;
    stack.dropped >>= 1;
    --stack.depth;
  } else if (t_state.lost_depth > 0) {
    push_was_dropped = true;
    --t_state.lost_depth;
  }
  if (push_was_dropped || !write_plain(ring, RecordType::kPop, domain, 0)) count_drop(ring, false);
}

void record_mark(const NvtxEvent& event) noexcept {
  RingGuard guard;
  RingHeader* ring = guard.get();
  if (ring == nullptr) return count_without_ring();
  if (!write_text(ring, RecordType::kMark, event, 0)) count_drop(ring, false);
}

std::uint64_t record_start(const NvtxEvent& event) noexcept {
  RingGuard guard;
  RingHeader* ring = guard.get();
  if (ring == nullptr) {
    count_without_ring();
    return ring::kDroppedRange;
  }
  // Unique in the process without a counter that all threads share: ring index above, running
  // number below.
  const std::uint64_t id = (std::uint64_t{t_state.index} + 1) << 40 | ++ring->next_range;
  if (write_text(ring, RecordType::kStart, event, id)) return id;
  count_drop(ring, true);
  return id | ring::kDroppedRange;
}

void record_end(std::uint32_t domain, std::uint64_t id) noexcept {
  RingGuard guard;
  RingHeader* ring = guard.get();
  if (ring == nullptr) return count_without_ring();
  const bool dropped = (id & ring::kDroppedRange) != 0;
  if (dropped || !write_plain(ring, RecordType::kEnd, domain, id)) count_drop(ring, false);
}

void record_call_begin(std::uint32_t correlation, bool driver, const char* name,
                       std::uint64_t begin_ns) noexcept {
  RingGuard guard;
  RingHeader* ring = guard.get();
  if (ring == nullptr) return;
  const std::uint32_t depth = ring->open_call_depth.load(std::memory_order_relaxed);
  if (depth < ring::kOpenCalls) {
    ring::OpenCall& call = ring->open_calls[depth];
    call.begin_ns = begin_ns;
    call.correlation = correlation;
    call.driver = driver ? 1 : 0;
    const std::size_t bytes = strnlen(name, ring::kCallNameBytes - 1);
    std::memcpy(call.name, name, bytes);
    call.name[bytes] = 0;
  }
  ring->open_call_depth.store(depth + 1, std::memory_order_release);
}

void record_call_end(ring::ApiRecord call, const char* name) noexcept {
  RingGuard guard;
  RingHeader* ring = guard.get();
  if (ring == nullptr) return count_without_ring();
  const std::uint32_t depth = ring->open_call_depth.load(std::memory_order_relaxed);
  if (depth > 0) ring->open_call_depth.store(depth - 1, std::memory_order_release);
  const Text text = text_of(name);
  call.name_bytes = text.bytes;
  Record record{RecordType::kApiCall};
  record.time_ns = now_ns();
  record.fixed = &call;
  record.fixed_bytes = sizeof call;
  record.text = text.data;
  record.text_bytes = text.bytes;
  if (!write(ring, record)) count_drop(ring, false);
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
  record.time_ns = activity.end_ns;
  record.fixed = &activity;
  record.fixed_bytes = sizeof activity;
  record.text = text.data;
  record.text_bytes = text.bytes;
  while (!write(ring, record)) {
    if (!wait_for_recorder(budget)) return count_drop(ring, false);
  }
}

}  // namespace teller::collector
