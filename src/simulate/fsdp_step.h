// One training step of all ranks, laid out in time.
#pragma once

#include "simulate/draw.h"
#include "simulate/machine.h"
#include "simulate/stack.h"

namespace teller::simulate {

// Keys of a step's draws: those of the run, which forks share, and the fork's own.
struct StepKeys {
  Key plan, draws;
};

// Fills in tree, latency and ends. `log_pace` is that of the hosts.
void build_fsdp_step(const EngineState& before, const EngineConfig& config, const Fault& fault,
                     const Machine& machine, const StepKeys& keys, double log_pace,
                     StepOutcome& out);

}  // namespace teller::simulate
