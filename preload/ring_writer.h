// How records get into the ring of the calling thread; private to the files that record. No lock,
// no allocation, no system call but at a thread's first event. [callback]
#pragma once

#include <cstring>

#include "preload/arena.h"
#include "teller/ring.h"

namespace teller::collector {

// Of one thread. Zero means: no ring yet.
struct ThreadState {
  ring::RingHeader* ring;
  std::uint32_t generation;  // of the arena that the ring belongs to
  std::uint32_t index;
  std::uint32_t lost_depth;   // pushes lost before this thread had a ring
  std::uint32_t retry_after;  // events to let pass before looking for a ring again
  bool busy;                  // inside a record: a signal handler that records now would tear it
};

extern constinit thread_local ThreadState t_state;

inline void bump(std::atomic<std::uint64_t>& counter) noexcept {
  counter.store(counter.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

// A place for `size` bytes that leaves `kept_free` bytes behind it; null if there is none. The
// record is there once `new_head` is stored.
inline char* reserve(ring::RingHeader* ring, std::uint32_t size, std::uint64_t kept_free,
                     std::uint64_t* new_head) noexcept {
  constexpr std::uint64_t kBytes = ring::kRingDataBytes;
  const std::uint64_t head = ring->head.load(std::memory_order_relaxed);
  const std::uint64_t position = head & (kBytes - 1);
  const std::uint64_t to_end = kBytes - position;
  const std::uint64_t need = to_end < size ? to_end + size : size;
  if (head + need + kept_free - ring->cached_tail > kBytes) {
    ring->cached_tail = ring->tail.load(std::memory_order_acquire);
    if (head + need + kept_free - ring->cached_tail > kBytes) return nullptr;
  }
  char* data = reinterpret_cast<char*>(ring) + ring::kRingHeaderBytes;
  *new_head = head + need;
  if (need == size) return data + position;
  const ring::RecordHeader pad{static_cast<std::uint32_t>(to_end), 0, 0, 0};
  std::memcpy(data + position, &pad, 8);
  return data;
}

// One record: a fixed part, then id and value, payloads, and a text, as far as it has them.
struct Record {
  ring::RecordType type;
  std::uint16_t flags = 0;
  bool is_owed = false;  // the pop of a written push: room was kept for it
  std::uint64_t time_ns = 0;
  const void* fixed = nullptr;
  std::uint32_t fixed_bytes = 0;
  const std::uint64_t* words = nullptr;  // id, value
  std::uint32_t word_count = 0;
  const char* payload = nullptr;
  std::uint32_t payload_bytes = 0;  // a multiple of 8
  const char* text = nullptr;
  std::uint32_t text_bytes = 0;
};

inline bool write(ring::RingHeader* ring, const Record& record) noexcept {
  const std::uint32_t bytes = static_cast<std::uint32_t>(sizeof(ring::RecordHeader)) +
                              record.fixed_bytes + record.word_count * 8 + record.payload_bytes +
                              record.text_bytes;
  const std::uint32_t size = ring::round_up_8(bytes);
  std::uint64_t new_head = 0;
  char* out = reserve(ring, size, record.is_owed ? 0 : ring->kept_free, &new_head);
  if (out == nullptr) return false;
  const ring::RecordHeader header{size, static_cast<std::uint16_t>(record.type), record.flags,
                                  record.time_ns};
  std::memcpy(out, &header, sizeof header);
  out += sizeof header;
  if (record.fixed_bytes != 0) std::memcpy(out, record.fixed, record.fixed_bytes);
  out += record.fixed_bytes;
  if (record.word_count != 0) std::memcpy(out, record.words, record.word_count * 8);
  out += record.word_count * 8;
  if (record.payload_bytes != 0) std::memcpy(out, record.payload, record.payload_bytes);
  out += record.payload_bytes;
  if (record.text_bytes != 0) std::memcpy(out, record.text, record.text_bytes);
  ring->head.store(new_head, std::memory_order_release);
  return true;
}

// A record that found the ring full.
void count_drop(ring::RingHeader* ring, bool is_range) noexcept;
// An event of a thread that has no ring.
void count_without_ring() noexcept;
// A ring for a thread's first event, or its first after a fork; null if there is none.
ring::RingHeader* acquire_ring() noexcept;
ring::RingHeader* ring_at(ring::ArenaHeader* arena, std::uint32_t index) noexcept;

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
  ring::RingHeader* get() const noexcept { return ring_; }

 private:
  ring::RingHeader* ring_ = nullptr;
  bool mine_ = false;
};

}  // namespace teller::collector
