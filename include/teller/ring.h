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
inline constexpr std::uint32_t kArenaVersion = 4;

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
inline constexpr std::uint32_t kDomainSlots = 64;
inline constexpr std::uint32_t kOpenCalls = 4;
inline constexpr std::uint32_t kCallNameBytes = 64;
// The latest launches that a thread keeps in view, for the error or the hang that names none.
inline constexpr std::uint32_t kLaunches = 32;
inline constexpr std::uint32_t kLaunchNameBytes = 224;
// Extended payloads of one NVTX event: blobs, and bytes of them that are kept.
inline constexpr std::uint32_t kMaxPayloads = 8;
inline constexpr std::uint32_t kMaxPayloadBytes = 4096;
// Entries that are kept of one payload schema or enumeration.
inline constexpr std::uint32_t kMaxSchemaEntries = 256;

// What a record in a ring is.
enum class RecordType : std::uint16_t {
  kPad = 0,       // fills the end of the ring
  kThread = 1,    // a thread takes this ring: ThreadRecord, then its name
  kPush = 2,      // TextRecord (+ id, value as flagged), then text
  kPop = 3,       // TextRecord without text
  kMark = 4,      // as kPush
  kStart = 5,     // as kPush, with id
  kEnd = 6,       // TextRecord with id, without text
  kApiCall = 7,   // ApiRecord, then the call's name
  kDevice = 8,    // DeviceRecord, then the kernel's name
  kInFlight = 9,  // InFlightRecord, then the kernel's name; stands before the call that failed
};

// Bits of RecordHeader::flags.
enum RecordFlag : std::uint16_t {
  kHasId = 1u << 0,        // a u64 range id follows the fixed part
  kHasValue = 1u << 1,     // a u64 payload follows the fixed part (after the id)
  kRegistered = 1u << 2,   // TextRecord::text is a string id of the definitions; no text follows
  kCut = 1u << 3,          // the text was longer than kMaxTextBytes
  kValueFloat = 1u << 4,   // the payload is a double
  kValueSigned = 1u << 5,  // the payload is an int64
  kHasPayload = 1u << 6,   // extended payloads follow (after id and value): u32 count, u32 bytes of
                           // them all, then for each a PayloadRecord and its bytes
  kAsyncError = 1u << 7,  // kApiCall: the first call of its context to report an asynchronous error
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

// One extended payload; its bytes follow, padded to a multiple of 8.
struct PayloadRecord {
  std::uint64_t schema;   // predefined type, or id of a kSchema or kEnum definition
  std::uint64_t address;  // where it lay in the process: other payloads may point into it
  std::uint64_t size;     // as the program stated it
  std::uint32_t bytes;    // that were kept
  std::uint32_t reserved;
};
static_assert(sizeof(PayloadRecord) == 32);

// A finished runtime or driver call; RecordHeader::time_ns is its end.
struct ApiRecord {
  std::uint64_t begin_ns;
  std::uint32_t correlation;
  std::int32_t result;
  std::uint32_t driver;  // 1 = driver API
  std::uint32_t name_bytes;
  std::uint32_t context;  // CUPTI's id of it; 0 where the thread has none
  std::uint32_t reserved;
};

// A launch of which no end is known to the process, reported with the error that came after it.
struct InFlightRecord {
  std::uint64_t begin_ns;  // of the launching call
  std::uint32_t correlation;
  std::uint32_t context;
  std::uint32_t graph;  // 1 = a graph was launched
  std::uint32_t name_bytes;
  std::uint32_t nested;  // id of the driver call that the runtime's made, 0 = none
  std::uint32_t reserved;
};

// What a DeviceRecord is.
enum class DeviceKind : std::uint32_t {
  kKernel = 1,
  kMemcpy = 2,
  kMemset = 3,
  kSync = 4,
  kOverhead = 5,
  kGraph = 6,       // a whole graph's execution (graph-level trace)
  kMemory = 7,      // allocation or release of device memory
  kMemoryPool = 8,  // creation, trimming or destruction of a memory pool
  kJit = 9,         // the driver's compiler and its cache
  kModule = 10,     // a module was loaded
  kExternal = 11,   // ties a correlation id to an id that the program pushed
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
  std::uint32_t detail;  // copy kind, synchronisation type, …, as CUPTI numbers it
  std::uint32_t name_bytes;
  std::int32_t result;  // kSync: what it returned, where CUPTI says
  // kKernel, kMemcpy, kMemset: graph node. kMemcpy between devices: the devices besides. kMemory:
  // address, pool, kind of memory. kMemoryPool: address, bytes in use. kJit: size of the cache.
  // kExternal: the external id.
  std::uint64_t extra[3];
};

// What a definition defines. 0 = not yet published.
enum class DefinitionKind : std::uint32_t {
  kUnpublished = 0,
  kDomain = 1,       // id = domain, text = its name
  kCategory = 2,     // id = category, domain, text
  kString = 3,       // id = string, text
  kThreadName = 4,   // id = tid, text
  kNote = 5,         // text = "key=value" about the process, for the run's META
  kSchema = 6,       // id = schema, domain; text = SchemaDefinition and its entries
  kEnum = 7,         // id = schema, domain; text = SchemaDefinition and its entries
  kDeviceName = 8,   // id = device, text
  kContextName = 9,  // id = context, text
  kStreamName = 10,  // id = stream, domain = context or kAnyContext, text
  kContext = 11,     // id = context, domain = device, text = ContextDefinition
};
// In the place of a context or domain: its number was not known, and `id` is the program's handle.
inline constexpr std::uint32_t kUnknownHandle = 0xfffffffe;
inline constexpr std::uint32_t kAnyContext = 0xffffffff;

// How the bytes of a payload are to be read, as registered; its name and `entries` entries follow.
struct SchemaDefinition {
  std::uint64_t type;   // NVTX_PAYLOAD_SCHEMA_TYPE_*
  std::uint64_t bytes;  // static size, 0 where unknown; of an enumeration: the size of its values
  std::uint32_t pack;   // alignment of packed structures, 0 = natural
  std::uint32_t entries;
  std::uint32_t left_out;  // entries beyond kMaxSchemaEntries, or that could not be read
  std::uint32_t name_bytes;
};
static_assert(sizeof(SchemaDefinition) == 32);

// Of an enumeration: `type` is the value, `flags` 1 for a bit. Its name follows.
struct SchemaEntry {
  std::uint64_t flags;
  std::uint64_t type;
  std::uint64_t detail;
  std::uint64_t offset;
  std::uint32_t name_bytes;
  std::uint32_t reserved;
};
static_assert(sizeof(SchemaEntry) == 40);

struct ContextDefinition {
  std::uint32_t null_stream;  // id of its default stream
  std::uint32_t reserved;
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

// How CUPTI's times became ours.
enum class CudaClock : std::uint32_t {
  kNone = 0,      // not known
  kCallback = 1,  // CUPTI asks us for the time
  kOffset = 2,    // CUPTI's own clock, its offset measured again and again
};

// What CUPTI could not give, and how its clock relates to CLOCK_MONOTONIC. Written by the process.
struct CudaState {
  std::atomic<std::uint64_t> unknown;          // activity records of kinds not known
  std::atomic<std::uint64_t> malformed;        // activity records that leave their buffer
  std::atomic<std::uint64_t> buffers_refused;  // requests for a buffer when the pool was empty
  std::atomic<std::uint32_t> activities;       // 1 = activity records come
  std::atomic<std::uint32_t> clock;            // CudaClock
  std::atomic<std::int64_t> clock_offset_ns;   // added to CUPTI's times, as last measured
  std::atomic<std::int64_t> clock_first_ns;    // … as first measured
  std::atomic<std::uint64_t> clock_error_ns;   // half the tightest bracket of the last measurement
  std::atomic<std::uint64_t> clock_count;      // measurements
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
  CudaState cuda;
};
inline constexpr std::uint64_t kArenaHeaderBytes = 8192;
static_assert(sizeof(ArenaHeader) <= kArenaHeaderBytes);

// The nesting of one NVTX domain on one thread, as runs of pushes that were written and pushes that
// were dropped, in turn: run 0 was written (maybe none), run 1 dropped, and so on. A push of the
// last run is always dropped, so that pops are right at any depth. Private to the producer.
inline constexpr std::uint32_t kNestingRuns = 16;
struct DomainStack {
  std::uint32_t top;  // the run that the innermost push belongs to
  std::uint32_t runs[kNestingRuns];

  // Whether the next push has to be dropped even if there is room.
  bool must_drop() const { return top == kNestingRuns - 1 && runs[top] > 0; }
  void push(bool dropped) {
    if (dropped != ((top & 1) != 0) && top + 1 < kNestingRuns) ++top;
    ++runs[top];
  }
  // Leaves the innermost push; false if there is none. `dropped`: it was not written.
  bool pop(bool* dropped) {
    if (runs[top] == 0) return false;
    *dropped = (top & 1) != 0;
    --runs[top];
    while (runs[top] == 0 && top > 0) --top;
    return true;
  }
};
static_assert(kNestingRuns % 2 == 0);  // the last run is one of dropped pushes

// A call that has begun and not ended: in a hang this is the evidence, so it must be readable from
// outside.
struct OpenCall {
  std::uint64_t begin_ns;
  std::uint32_t correlation;
  std::uint32_t driver;
  char name[kCallNameBytes];
};

// A launch that succeeded, as kept by the thread that made it. Other threads and the recorder read
// it while it may change: `sequence` is odd while it does, and another one afterwards.
struct Launch {
  std::atomic<std::uint32_t> sequence;  // 0 = never used
  std::uint32_t correlation;
  std::uint32_t context;
  std::uint32_t graph;   // 1 = a graph was launched
  std::uint32_t nested;  // id of the driver call that the runtime's made, 0 = none
  std::uint32_t reserved;
  std::uint64_t begin_ns;
  char name[kLaunchNameBytes];
};
static_assert(sizeof(Launch) == 256);

struct RingHeader {
  // Written by the thread that owns the ring.
  alignas(64) std::atomic<std::uint64_t> head;  // bytes ever written
  std::uint64_t cached_tail;                    // private to the producer
  std::uint64_t next_range;                     // private to the producer
  std::uint64_t kept_free;  // private to the producer: room that is for the pops of written pushes
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
  std::uint32_t next_launch;    // private to the producer: launches ever made
  std::uint32_t nested_launch;  // private to the producer: driver call within the open one
  std::uint32_t captures;       // private to the producer: stream captures that it has begun
  alignas(64) Launch launches[kLaunches];
};
inline constexpr std::uint64_t kRingHeaderBytes = 16384;
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
