// Events of a Kineto trace as far as each can be understood by itself: all but what depends on the
// events before it (ids in the event file, tracks, sums).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_buffer.h"
#include "importers/operator_times.h"
#include "teller/event.h"

namespace teller {

// Where an event's track is looked for, and what it counts as.
enum class ShapedAs : std::uint8_t {
  kHost,          // complete event on a host thread
  kDevice,        // complete event on a device
  kFlow,          // end of an arrow
  kSimple,        // mark, counter or one end of a range
  kUnknownPhase,  // kept, but nobody knows what it is
};

// Name or labels of a process or thread.
struct ShapedName {
  std::string_view list;  // of META: "thread_names", "process_names", "process_labels"
  std::string pid;
  std::string tid;
  std::string value;
};

struct ShapedOperator {
  std::int64_t pid = 0;
  std::uint64_t id = 0;
  OperatorTime time;
};

struct ShapedEvents {
  // `name`, `category` and `track` are numbers in the tables of the shaper that made them; `attrs`
  // is the length of the event's text in `attrs`.
  std::vector<EventRecord> events;
  std::vector<ShapedAs> as;  // of each event
  ByteBuffer attrs;          // for each event that has some: its length, its text
  std::vector<ShapedName> names;
  std::vector<ShapedOperator> operators;
  std::vector<std::string> unknown_phases;  // one for each such event
  std::uint64_t records = 0;                // sum of the events and of what follows
  std::uint64_t metadata = 0;
  std::uint64_t malformed = 0;
  std::uint64_t clipped = 0;   // see SourceCounts
  std::uint64_t repaired = 0;  // see SourceCounts

  // Keeps the memory.
  void clear() {
    events.clear();
    as.clear();
    attrs.clear();
    names.clear();
    operators.clear();
    unknown_phases.clear();
    records = metadata = malformed = clipped = repaired = 0;
  }
};

}  // namespace teller
