// Turns options into an engine's limits, a stack and a fault; checks them.
#pragma once

#include <memory>

#include "simulate/simulate.h"
#include "simulate/stack.h"

namespace teller::simulate {

// More steps than any run that ends has.
inline constexpr int kMaxSteps = 20'000;

Result<EngineConfig> config_of(const SimulateOptions& options);
Result<std::unique_ptr<Stack>> stack_of(const SimulateOptions& options, const EngineConfig& config);
// What is not given is drawn, so that all of it differs from seed to seed.
Result<Fault> fault_of(const SimulateOptions& options, const EngineConfig& config,
                       const Stack& stack);

}  // namespace teller::simulate
