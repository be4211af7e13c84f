// Writes a step's tree and its record (docs/step_record.md) to a recording.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "simulate/recording.h"
#include "simulate/stack.h"

namespace teller::simulate {

// The step's record as compact JSON.
std::string step_record_json(const StepOutcome& outcome, const EngineConfig& config,
                             const char* engine);

// Pushes and pops the tree's ranges; calls and kernels go to their tracks.
void record_tree(const StepTree& tree,
                 const std::function<std::uint32_t(const TreeNode&)>& track_of,
                 Recording& recording);

}  // namespace teller::simulate
