// Continuous batching with chunked prefill over a pool of KV blocks: who runs how many tokens in
// the next step, and who loses its blocks. The policy of examples/demo_engine/scheduler.py.
#pragma once

#include <vector>

#include "simulate/draw.h"
#include "simulate/engine_state.h"
#include "simulate/mechanisms.h"

namespace teller::simulate {

enum class RowKind : std::uint8_t { kPrefill, kDecode, kWaiting, kPreempted };

struct Row {
  int request = 0;
  RowKind kind = RowKind::kDecode;
  int scheduled = 0, computed = 0;  // tokens; `computed` before the step (preempted: held before)
  bool is_new = false;
  int held_blocks = 0, free_blocks = 0;  // preempted: what it held, and what was free
  int target = 0;                        // preempted: its prefill target before
};

struct Plan {
  std::vector<Row> served, waiting, preempted;
  int tokens = 0;
  int free_blocks = 0, seats = 0;
  int prefills() const;
};

// Plans the next step of `state` and hands out its blocks. `draws` is keyed by the step.
Plan schedule(EngineState& state, const EngineConfig& config, const Fault& fault, const Key& draws);

// Books what a plan computed: new tokens, finished requests. Returns the finished ones.
std::vector<int> finish_step(EngineState& state, const EngineConfig& config, const Plan& plan,
                             const Fault& fault);

// The state with what the fault holds given back: pinned and leaked blocks, and the KV of requests
// that it had preempted, as it was when taken.
EngineState healed(const EngineState& state);

}  // namespace teller::simulate
