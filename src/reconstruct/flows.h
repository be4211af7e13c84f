// Flows: the arrows that a profiler draws from what was asked for to what was done, from a launch
// to its kernel, from a forward to its backward operator. Advisory: read only where nothing else
// ties an item to its place. Private to reconstruct/ and its tests.
#pragma once

#include <cstdint>
#include <vector>

#include "reconstruct/workspace.h"

namespace teller {

// Where an arrow begins or ends: a place on a track, whatever lies there.
struct FlowPlace {
  std::uint32_t track = 0;   // index into chains' tracks
  std::int64_t time_ns = 0;  // run's clock
};

struct Flow {
  FlowPlace from;
  FlowPlace to;
};

// What an arrow ties: a backward operator to its forward operator ("fwdbwd"), or anything else.
enum class FlowKind : std::uint8_t { kForwardBackward, kOther };

// The flows of a source in the order of their ends; of one kind alone. An end belongs to the latest
// start of its category and id before it; without one it is left out. Reads the whole source: for
// sources that have flows (Source::flow_ends).
std::vector<Flow> flows_of(const Workspace& work, std::uint16_t source, FlowKind kind);

// By flow: the innermost item around its begin, ends included, of those on the thread where it
// begins that `serves` takes; kNoIndex for none. Needs nest_items(). Goes once over the items of
// each such thread, however deep they nest.
std::vector<std::uint32_t> items_at_begins(const Workspace& work, const std::vector<Flow>& flows,
                                           bool (*serves)(const Item&));

}  // namespace teller
