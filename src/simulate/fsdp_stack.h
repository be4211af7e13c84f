// Training with fully sharded data parallelism: ranks in step, tied by collectives.
#pragma once

#include "simulate/stack.h"

namespace teller::simulate {

// Its own number of ranks (2 or 4) and of steps.
EngineConfig fsdp_config(std::uint64_t seed);

std::unique_ptr<Stack> make_fsdp_stack(const EngineConfig& config, std::uint64_t seed,
                                       int max_steps);

}  // namespace teller::simulate
