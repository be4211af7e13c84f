// Hangs what the worker processes of an engine do under the engine's steps. Private to
// reconstruct/.
#pragma once

#include <cstdint>
#include <vector>

#include "reconstruct/passes.h"

namespace teller {

// An engine calls all its workers, and each worker does the calls in their order. So of two
// processes that were recorded from the first call on the n-th work of a kind serves the n-th call
// of that kind. They were if a work begins before the call after its own is made, and none before
// its own. Needs `step_of` of the calls; sets the parent of the works' ranges. Answers the threads
// that have such ranges now.
std::vector<std::uint32_t> join_worker_processes(Workspace& work, const StepRoots& steps);

// For each work the number of its call, kNoIndex for none; both by begin (ns). Public for tests.
std::vector<std::uint32_t> calls_of_works(const std::vector<std::int64_t>& calls,
                                          const std::vector<std::int64_t>& works);

}  // namespace teller
