// Places the nodes of an execution trace in time: at the profiler's times where it is known, else
// in their order.
#pragma once

#include <cstdint>
#include <vector>

#include "importers/operator_times.h"
#include "run_folder/event_file.h"

namespace teller {

// A node without its text, which lies in the event file's strings.
struct ChakraCall {
  std::uint64_t id = 0;
  std::uint64_t parent = 0;
  std::uint64_t rf_id = 0;
  std::uint64_t name_hash = 0;
  std::int64_t tid = 0;
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  StringId name = 0;
  StringId attrs = 0;
  std::uint16_t flags = 0;  // EventFlag
  bool timed = false;       // begin_ns and end_ns are known
};

// Sets the times of all calls to their order: each begin and each end is one tick behind the one
// before. Ids rise in the order of begins, and a call's parent is what was open around it on its
// thread, so that the order on each thread is exact; between threads only that of begins is.
void set_order(std::vector<ChakraCall>& calls);

// Sets the times of calls that `tied`, by index, names; those of others become those of the nearest
// call around them that has some, else those of the call before. Calls must be sorted by id.
void set_tied_times(std::vector<ChakraCall>& calls, const std::vector<const OperatorTime*>& tied);

}  // namespace teller
