#include "preload/recorder.h"

#include "preload/ring_writer.h"

namespace teller::collector {

namespace {

using ring::DomainStack;
using ring::RecordType;
using ring::RingHeader;

DomainStack& stack_of(RingHeader* ring, std::uint32_t domain) noexcept {
  return ring->stacks[domain % ring::kDomainSlots];
}

// Bytes of a pop without payload, and what padding at the end of the ring may cost besides, once.
constexpr std::uint64_t kPopBytes = sizeof(ring::RecordHeader) + sizeof(ring::TextRecord);
constexpr std::uint64_t kPadding = 32;

bool write_text(RingHeader* ring, RecordType type, const NvtxEvent& event, std::uint64_t id,
                bool is_owed = false) noexcept {
  std::uint64_t words[2];
  Record record{type};
  record.is_owed = is_owed;
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
  record.payload = event.payload;
  record.payload_bytes = event.payload_bytes;
  record.text = event.text.data;
  record.text_bytes = registered ? 0 : event.text.bytes;
  if (!write(ring, record)) return false;
  if (event.text.cut) bump(ring->cut);
  return true;
}

// Without its payload if that does not fit.
void write_owed_pop(RingHeader* ring, const NvtxEvent& event) noexcept {
  ring->kept_free -= kPopBytes;
  if (ring->kept_free == kPadding) ring->kept_free = 0;
  if (event.payload_bytes != 0 && write_text(ring, RecordType::kPop, event, 0)) return;
  if (!write_text(ring, RecordType::kPop, in_domain(event.domain), 0, true)) {
    count_drop(ring, false);
  }
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
  DomainStack& stack = stack_of(ring, event.domain);
  // A push that is written must find room for its pop, however full the ring is by then.
  const std::uint64_t kept_free = ring->kept_free;
  ring->kept_free += kPopBytes + (kept_free == 0 ? kPadding : 0);
  const bool written = !stack.must_drop() && write_text(ring, RecordType::kPush, event, 0);
  stack.push(!written);
  if (written) return;
  ring->kept_free = kept_free;
  count_drop(ring, true);
}

void record_pop(const NvtxEvent& event) noexcept {
  RingGuard guard;
  RingHeader* ring = guard.get();
  if (ring == nullptr) {
    if (t_state.lost_depth > 0) --t_state.lost_depth;
    count_without_ring();
    return;
  }
  bool push_was_dropped = false;
  const bool had_push = stack_of(ring, event.domain).pop(&push_was_dropped);
  if (had_push && !push_was_dropped) return write_owed_pop(ring, event);
  if (!had_push && t_state.lost_depth > 0) {
    push_was_dropped = true;
    --t_state.lost_depth;
  }
  if (push_was_dropped || !write_text(ring, RecordType::kPop, event, 0)) count_drop(ring, false);
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

void record_end(const NvtxEvent& event, std::uint64_t id) noexcept {
  RingGuard guard;
  RingHeader* ring = guard.get();
  if (ring == nullptr) return count_without_ring();
  const bool dropped = (id & ring::kDroppedRange) != 0;
  if (dropped || !write_text(ring, RecordType::kEnd, event, id)) count_drop(ring, false);
}

}  // namespace teller::collector
