// The engine of examples/demo_engine: the same names, nesting, step records and log lines.
#pragma once

#include "simulate/stack.h"

namespace teller::simulate {

// `max_steps` bounds what the machine's disturbances are laid out for.
Result<std::unique_ptr<Stack>> make_demo_stack(const EngineConfig& config, std::uint64_t seed,
                                               int max_steps);

}  // namespace teller::simulate
