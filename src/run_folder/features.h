// What stage 3 measures of every node of a slice: deviations without units, the same for every
// stack. Slices hold them per node, tokens per token, and the model reads nothing else of times.
// docs/slice.md says how each one is computed.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace teller {

// Index into NodeFeatures. Numbers are written to files: they never change meaning and are never
// reused; new ones take reserved places.
enum Feature : std::size_t {
  kZDuration = 0,      // asinh(residual / spread) of the duration, the step's pace taken off
  kZSelf = 1,          // the same of self time
  kZMates = 2,         // against the batch-mates' same operator in this step; 0 where shared
  kZStep = 3,          // STEP node alone: the pace of the step against what is expected
  kExcessShare = 4,    // share of the step's excess self time (residuals above 0), 0..1
  kPresence = 5,       // +1 not expected in a step of its kind, -1 a ghost, 0 as expected
  kReturnCode = 6,     // 1: a call that failed
  kOpen = 7,           // 1: never ended
  kQueueDelay = 8,     // z of launch-to-start delay; device nodes
  kGap = 9,            // z of the idle time on its thread or stream since its predecessor
  kBytes = 10,         // z of bytes per token; copies
  kLateness = 11,      // collectives: arrival after the group's median, over the spread, asinh
  kWaitShare = 12,     // collectives: share of its time spent before the last rank came, 0..1
  kBandwidth = 13,     // collectives: z of transfer time after the last arrival (above 0: slower)
  kPassedOver = 14,    // row: 1 if it waits though it could have been served (docs/localise.md)
  kSinceServed = 15,   // row: log(1 + steps since last served)
  kComputedFall = 16,  // row: log(1 + fall of computed tokens)
  kKvUsed = 17,        // row: used share of the KV blocks, 0..1
  kPreemptions = 18,   // row: log(1 + preemptions of this request so far), less the run's median
  kPassedCount = 19,   // row: log(1 + times passed over so far), less the run's median
  kScheduled = 20,     // row: log(1 + scheduled tokens)
  kExpected = 21,      // 1: something is expected of the node's key, so that 0 means "as usual"
  kZAround = 22,       // median z (mates, else self) of its key over the steps around
  kKvLost = 23,        // row: asinh(share of KV blocks in use that no row accounts for / 0.05)
  kFeatureCount = 24
};

// One value per Feature. All are finite and within +-16.
using NodeFeatures = std::array<float, kFeatureCount>;
inline constexpr float kFeatureLimit = 16.0F;

// Names in files and JSON, in order.
inline constexpr std::array<std::string_view, kFeatureCount> kFeatureNames = {
    "z_duration",  "z_self",       "z_mates",     "z_step",       "excess_share",  "presence",
    "return_code", "open",         "queue_delay", "gap",          "bytes",         "lateness",
    "wait_share",  "bandwidth",    "passed_over", "since_served", "computed_fall", "kv_used",
    "preemptions", "passed_count", "scheduled",   "expected",     "z_around",      "kv_lost"};

// The two views of a run. Numbers are written to files.
enum class View : unsigned char {
  kVertical = 0,    // one process's stack, engine to kernel: one unit per step
  kHorizontal = 1,  // the same step across ranks: one unit per step number that several ranks have
};
constexpr std::string_view view_name(View view) {
  return view == View::kVertical ? "vertical" : "horizontal";
}

// Kinds of edges between nodes or tokens. Numbers are written to files.
enum class EdgeKind : unsigned char { kParent = 1, kTemporal = 2, kCommunication = 3 };

}  // namespace teller
