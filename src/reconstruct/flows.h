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

// The flows of a source in the order of their ends; of `category` alone unless that is 0. An end
// belongs to the latest start of its category and id before it; without one it is left out.
// Reads the whole source: for sources that have flows (Source::flow_ends).
std::vector<Flow> flows_of(const Workspace& work, std::uint16_t source, StringId category);

// The innermost host item of a thread around a time, ends included; kNoIndex for none. Needs
// nest_items().
std::uint32_t innermost_at(const Workspace& work, const Thread& thread, std::int64_t time_ns);

}  // namespace teller
