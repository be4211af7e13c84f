// The load of a simulated engine: which requests come, and when.
#pragma once

#include "simulate/draw.h"
#include "simulate/engine_state.h"

namespace teller::simulate {

// A state before the first step: all requests planned, the first ones due. `start_ns` is when
// the load begins.
EngineState plan_load(const EngineConfig& config, const Key& seed, std::int64_t start_ns);

// Queues the requests that are due; if there is no work, goes on to when the next one is. False:
// nothing is left to do.
bool take_arrivals(EngineState& state);

// A request was answered: its client thinks, and sends the next one.
void answer(EngineState& state, const EngineConfig& config, const Key& seed, int request);

}  // namespace teller::simulate
