// Finds the process of an execution trace among those that a profiler traced.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "importers/chakra_order.h"
#include "importers/operator_times.h"

namespace teller {

// The traced processes that may be the one of an execution trace.
struct ProcessMatch {
  const TracedProcess* process = nullptr;  // null if none is, or nobody can tell which
  std::vector<std::string> like;           // files that fit alike, sorted; empty if one fits best
};

// The process in which most calls are found again, at least half of them. Containers give the same
// process ids, and ranks of one program the same numbers of calls: it must fit clearly better than
// all others, or which one it is would hang on the order of the inputs.
// `times` may be null.
ProcessMatch same_process(const OperatorTimes* times, std::int64_t pid,
                          const std::vector<ChakraCall>& calls);

}  // namespace teller
