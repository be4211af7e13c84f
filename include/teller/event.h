// The raw event of a run: one fixed-size record per range edge, call, device activity, mark or
// flow, whoever wrote it. Collector and importers produce them, `reconstruct` reads them. Layout is
// little-endian and part of the run folder's specification (docs/run_folder.md).
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>

namespace teller {

// Index into the string table of the file that holds the record. 0 is the empty string.
using StringId = std::uint32_t;
// Index into the track table of the file that holds the record.
using TrackId = std::uint32_t;

// `end_ns` of something that had not ended when the capture stopped.
inline constexpr std::int64_t kOpenNs = std::numeric_limits<std::int64_t>::max();

// What a record is. Numbers are written to files: they never change meaning and are never reused.
enum class EventKind : std::uint16_t {
  kNone = 0,
  kRange =
      1,  // complete host range: operator, annotation, Python function, NVTX range with both ends
  kRangePush = 2,   // begin of a nested range on a thread
  kRangePop = 3,    // end of the innermost open range of this thread and domain
  kRangeStart = 4,  // begin of a start/end range; correlation = range id, any thread may end it
  kRangeEnd = 5,    // end of a start/end range; correlation = range id
  kMark = 6,        // instant; `name` holds the message
  kApiCall = 7,     // CUDA/HIP runtime or driver call; value = return code (0 = success)
  kKernel = 8,      // device kernel
  kMemcpy = 9,      // device copy; value = bytes
  kMemset = 10,     // device memset; value = bytes
  kSync = 11,      // synchronisation record of the device (Kineto cuda_sync, CUPTI SYNCHRONIZATION)
  kOverhead = 12,  // overhead of the profiler itself
  kDeviceRange = 13,  // annotation projected on the device by the profiler (gpu_user_annotation)
  kFlowStart = 14,    // start of a flow arrow; correlation = flow id, category = flow name
  kFlowEnd = 15,      // end of a flow arrow
  kCounter = 16,      // sampled value
  kWindow = 17,       // the profiler's own statement of its window (Kineto "Trace" spans)
  kStepRecord = 18,   // the step's record: a mark whose `attrs` is the JSON of docs/step_record.md
  kUnknown = 19,      // kept, but of a kind that this version does not know
  kMemory = 20,  // device memory: value = bytes taken (> 0) or given back (< 0), 0 for a pool's
                 // trimming; attrs hold address and pool
  kExternalId =
      21,  // the program tied `external` (of the sort `value`) to calls with `correlation`
};

// Bits of EventRecord::flags.
enum EventFlag : std::uint16_t {
  kFlagHasCorrelation = 1u << 0,  // `correlation` was in the source (0 is a legal id)
  kFlagHasExternal = 1u << 1,     // `external` was in the source
  kFlagDriver = 1u << 2,          // kApiCall: driver API (else runtime API)
  kFlagRepaired =
      1u << 3,  // a field was clipped or repaired while reading; counted in the source's counts
  kFlagGraph = 1u << 4,     // device activity that belongs to a graph launch
  kFlagPython = 1u << 5,    // range of a Python function (front end)
  kFlagOperator = 1u << 6,  // range of a backend operator (ATen or other C++ library)
  kFlagFailed = 1u << 7,  // kApiCall, kSync: value is a real return code and differs from success;
                          // kKernel: in flight when that asynchronous error was reported
};

// One record; 64 bytes. Times are nanoseconds on the source's clock; META "clock" of the file says
// how that clock relates to Unix time.
struct EventRecord {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;        // = begin_ns for instants; kOpenNs if it never ended
  std::uint64_t correlation = 0;  // correlation id, flow id or range id (see EventKind)
  std::uint64_t external =
      0;  // External id (operator that a call belongs to), or graph id with kFlagGraph
  std::int64_t value = 0;  // return code, bytes or counter value (see EventKind)
  StringId name = 0;       // full name, as the source wrote it
  StringId category =
      0;  // the source's own word for the kind: Kineto "cat", Nsight table name, NVTX category
  StringId attrs = 0;       // further fields as one compact JSON object, or 0
  TrackId track = 0;        // where it happened
  std::uint16_t kind = 0;   // EventKind
  std::uint16_t flags = 0;  // EventFlag
  StringId domain = 0;      // NVTX domain, or 0
};
static_assert(sizeof(EventRecord) == 64);

// What a track is.
enum class TrackKind : std::uint32_t {
  kHostThread = 1,    // pid, tid
  kDeviceStream = 2,  // pid of the launching process where known, device, context, stream
  kOther = 3,         // rows of a viewer that are neither (Kineto "Spans")
};

// Where events happen; 64 bytes. `device_label` and `stream_label` are the device's and stream's
// names in the source file ("0", "stream 7"); `device`, `context` and `stream` are -1 where
// unknown.
struct TrackRecord {
  std::uint32_t kind = 0;  // TrackKind
  StringId name = 0;       // thread or process name where the source gives one
  std::int64_t pid = 0;
  std::int64_t tid = 0;
  std::int64_t context = -1;
  std::int64_t stream = -1;
  std::int32_t device = -1;
  StringId device_label = 0;
  StringId stream_label = 0;
  std::uint32_t reserved = 0;
  std::uint64_t reserved2 = 0;
};
static_assert(sizeof(TrackRecord) == 64);

// The layer of a node in a call chain (order matters: it is the order of TPE symbols).
enum class Layer : std::uint8_t {
  kStep = 0,      // engine step, its schedule and its rows
  kFrontEnd = 1,  // Python or front-end range
  kBackEnd = 2,   // C++/ATen/library range
  kRuntime = 3,   // runtime or driver call
  kKernel = 4,    // kernel, memcpy, memset on a device
  kCollective =
      5,  // reserved for views that show COMM as a layer; nodes carry kNodeCollective instead
};

// The short name of a layer in files and JSON: STEP FE BE RT K COMM.
constexpr std::string_view layer_name(Layer layer) {
  constexpr std::string_view kNames[] = {"STEP", "FE", "BE", "RT", "K", "COMM"};
  auto index = static_cast<std::size_t>(layer);
  return index < 6 ? kNames[index] : "?";
}

// NVTX domain of teller's own Python hooks; its categories name the layer of a range (STEP, FE,
// BE), and a mark of category RECORD carries the step's record.
inline constexpr std::string_view kTellerDomain = "teller";
inline constexpr std::string_view kCategoryStep = "STEP";
inline constexpr std::string_view kCategoryFrontEnd = "FE";
inline constexpr std::string_view kCategoryBackEnd = "BE";
inline constexpr std::string_view kCategoryRecord = "RECORD";

}  // namespace teller
