// Which step a backward pass belongs to where its times do not tell. Private to reconstruct/.
#pragma once

#include <cstdint>
#include <vector>

#include "reconstruct/workspace.h"

namespace teller {

// For each of `roots` (items of one source that stand at the top of their threads) the one step
// that all forward operators are in whose flows ("fwdbwd") end in it; kNoIndex if there is none, or
// several. Needs `step_of` of the forward operators.
std::vector<std::uint32_t> steps_of_backward(const Workspace& work, std::uint16_t source,
                                             const std::vector<std::uint32_t>& roots);

}  // namespace teller
