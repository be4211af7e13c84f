// The shared memory between a traced process and the recorder: one arena per process, one ring per
// thread. Written by preload/, drained by src/capture/. Both ends come from one build; nothing here
// is ever written to a file.
//
//   arena  | ArenaHeader | definitions (append only) | ring 0 | ring 1 | … |
//   ring   | RingHeader  | data: records end to end, each a multiple of 8 bytes, none across the
//   end |
//
// The traced process creates the arena and is not trusted: the recorder checks every size and index
// it reads here, and works on a private copy.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace teller::ring {

inline constexpr std::uint64_t kArenaMagic = 0x314e524152454c54;  // "TLERARN1"
inline constexpr std::uint32_t kArenaVersion = 2;

// Threads that can record at the same time; a later one is counted in
// ArenaHeader::events_without_ring.
inline constexpr std::uint32_t kMaxRings = 512;
// Address space, not memory: pages are touched as they are used.
inline constexpr std::uint64_t kDefinitionBytes = 32u << 20;
// At 64 bytes for a push and its pop this holds 8,000 ranges; the recorder comes by every few
// milliseconds.
inline constexpr std::uint32_t kRingDataBytes = 512u << 10;
// Longest text kept of one message. Generous, because a step record that is cut is lost as a
// record.
inline constexpr std::uint32_t kMaxTextBytes = 128u << 10;
inline constexpr std::uint32_t kDomainSlots = 32;
inline constexpr std::uint32_t kOpenCalls = 4;
inline constexpr std::uint32_t kCallNameBytes = 64;

// What a record in a ring is.
enum class RecordType : std::uint16_t {
  kPad = 0,      // fills the end of the ring
  kThread = 1,   // a thread takes this ring: ThreadRecord, then its name
  kPush = 2,     // TextRecord (+ id, value as flagged), then text
  kPop = 3,      // TextRecord without text
  kMark = 4,     // as kPush
  kStart = 5,    // as kPush, with id
  kEnd = 6,      // TextRecord with id, without text
  kApiCall = 7,  // ApiRecord, then the call's name
  kDevice = 8,   // DeviceRecord, then the kernel's name
};

// Bits of RecordHeader::flags.
enum RecordFlag : std::uint16_t {
  kHasId = 1u << 0,        // a u64 range id follows the fixed part
  kHasValue = 1u << 1,     // a u64 payload follows the fixed part (after the id)
  kRegistered = 1u << 2,   // TextRecord::text is a string id of the definitions; no text follows
  kCut = 1u << 3,          // the text was longer than kMaxTextBytes
  kValueFloat = 1u << 4,   // the payload is a double
  kValueSigned = 1u << 5,  // the payload is an int64
};

struct RecordHeader {
  std::uint32_t size;  // of the whole record, header and padding included; a multiple of 8
  std::uint16_t type;  // RecordType
  std::uint16_t flags;
  std::uint64_t time_ns;  // CLOCK_MONOTONIC; absent in kPad, which may be 8 bytes long
};
static_assert(sizeof(RecordHeader) == 16);

struct ThreadRecord {
  std::uint64_t tid;
  std::uint32_t name_bytes;
  std::uint32_t reserved;
};

struct TextRecord {
  std::uint32_t domain;    // id of a kDomain definition, 0 = default domain
  std::uint32_t category;  // number of a category in that domain, 0 = none
  std::uint32_t text;      // string id with kRegistered, else bytes of text
  std::uint32_t reserved;
};

// A finished runtime or driver call; RecordHeader::time_ns is its end.
struct ApiRecord {
  std::uint64_t begin_ns;
  std::uint32_t correlation;
  std::int32_t result;
  std::uint32_t driver;  // 1 = driver API
  std::uint32_t name_bytes;
};

// What a DeviceRecord is.
enum class DeviceKind : std::uint32_t {
  kKernel = 1,
  kMemcpy = 2,
  kMemset = 3,
  kSync = 4,
  kOverhead = 5
};

// An activity of a device.
struct DeviceRecord {
  std::uint64_t begin_ns;
  std::uint64_t end_ns;
  std::uint64_t bytes;
  std::uint64_t graph;  // graph id, 0 = none
  std::uint32_t kind;   // DeviceKind
  std::uint32_t correlation;
  std::int32_t device;
  std::int32_t context;
  std::int32_t stream;
  std::uint32_t detail;  // copy kind or synchronisation type, as CUPTI numbers it
  std::uint32_t name_bytes;
  std::uint32_t reserved;
};

// What a definition defines. 0 = not yet published.
enum class DefinitionKind : std::uint32_t {
  kUnpublished = 0,
  kDomain = 1,      // id = domain, text = its name
  kCategory = 2,    // id = category, domain, text
  kString = 3,      // id = string, text
  kThreadName = 4,  // id = tid, text
  kNote = 5,        // text = "key=value" about the process, for the run's META
};

// One entry of the definitions; text follows. `size` is stored first and `kind` last (release), so
// that a reader can step over an entry whose writer is still at work.
struct Definition {
  std::atomic<std::uint32_t> size;  // whole entry, a multiple of 8
  std::atomic<std::uint32_t> kind;
  std::uint32_t domain;
  std::uint32_t text_bytes;
  std::uint64_t id;
};
static_assert(sizeof(Definition) == 24);

enum class RingState : std::uint32_t {
  kFree = 0,    // may be taken by a thread
  kLive = 1,    // owned by a thread
  kClosed = 2,  // its thread has ended; the recorder drains it and makes it kFree
};

struct ArenaHeader {
  std::uint64_t magic;
  std::uint32_t version;
  std::uint32_t ring_count;
  std::uint64_t arena_bytes;
  std::uint64_t definition_offset;
  std::uint64_t definition_bytes;
  std::uint64_t ring_offset;
  std::uint32_t ring_stride;      // RingHeader and data
  std::uint32_t ring_data_bytes;  // a power of two
  std::atomic<std::uint64_t> definitions_used;
  std::atomic<std::uint64_t> definitions_lost;
  std::atomic<std::uint64_t> events_without_ring;
  std::atomic<std::uint64_t> device_dropped;  // records that CUPTI itself had to drop
  std::atomic<std::uint32_t> rings_used;      // rings ever taken: the recorder looks at no others
  std::atomic<std::uint32_t>
      stop;  // set by the recorder: capture has ended, do not count what is dropped
  std::atomic<std::uint32_t> ring_state[kMaxRings];
  std::atomic<std::uint64_t> drains;  // bumped by the recorder at each drain: it is alive
  // Private to the process: one more than the `drains` at which waiting for room was given up.
  std::atomic<std::uint64_t> given_up;
};
inline constexpr std::uint64_t kArenaHeaderBytes = 8192;
static_assert(sizeof(ArenaHeader) <= kArenaHeaderBytes);

// The nesting of one NVTX domain on one thread. Private to the producer.
struct DomainStack {
  std::uint32_t depth;
  std::uint32_t reserved;
  std::uint64_t dropped;  // bit i = the push at depth - 1 - i was dropped, and so its pop must be
};

// A call that has begun and not ended: in a hang this is the evidence, so it must be readable from
// outside.
struct OpenCall {
  std::uint64_t begin_ns;
  std::uint32_t correlation;
  std::uint32_t driver;
  char name[kCallNameBytes];
};

struct RingHeader {
  // Written by the thread that owns the ring.
  alignas(64) std::atomic<std::uint64_t> head;  // bytes ever written
  std::uint64_t cached_tail;                    // private to the producer
  std::uint64_t next_range;                     // private to the producer
  std::atomic<std::uint64_t>
      dropped;  // records that found the ring full, and pops and ends of such
  std::atomic<std::uint64_t> dropped_ranges;  // of these, ranges (one for push and pop together)
  std::atomic<std::uint64_t> cut;             // texts that were cut
  // Written by the recorder.
  alignas(64) std::atomic<std::uint64_t> tail;  // bytes ever read
  // Written by the thread that owns the ring.
  alignas(64) std::atomic<std::uint32_t> open_call_depth;
  std::uint32_t reserved;
  OpenCall open_calls[kOpenCalls];
  alignas(64) DomainStack stacks[kDomainSlots];
};
inline constexpr std::uint64_t kRingHeaderBytes = 4096;
static_assert(sizeof(RingHeader) <= kRingHeaderBytes);

// What a process sends to the recorder's socket when it begins to record; the arena's descriptor
// travels beside it.
struct Hello {
  std::uint64_t magic;
  std::uint32_t version;
  std::int32_t pid;
  std::int32_t ppid;
  std::int32_t tid;
  std::uint64_t monotonic_ns;  // the sender's CLOCK_MONOTONIC: differs from the recorder's in a
                               // time namespace
};
static_assert(sizeof(Hello) == 32);

// A dropped start/end range has this bit in its id, so that its end is not recorded either.
inline constexpr std::uint64_t kDroppedRange = std::uint64_t{1} << 63;

constexpr std::uint32_t round_up_8(std::uint32_t bytes) {
  return (bytes + 7u) & ~7u;
}

static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

}  // namespace teller::ring
