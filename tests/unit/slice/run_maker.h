// Makes runs of a small serving engine: continuous batching, chunked prefill, KV blocks,
// preemption, with jitter as measured on shared two-core machines (heavy tails, busy stretches),
// and one defect. The same options give the same run.
#pragma once

#include <cstdint>
#include <string>

#include "run_folder/chains.h"
#include "teller/result.h"

namespace teller::testing {

enum class Defect {
  kNone,
  kStarve,     // one request is passed over in `starved_steps` steps
  kSlowOp,     // its attention takes `slow_ratio` times as long
  kMemory,     // it finds no free block `preemptions` times
  kSlowFamily  // mlp takes `slow_ratio` times as long for everyone
};

struct RunOptions {
  std::uint64_t seed = 1;
  Defect defect = Defect::kNone;
  std::uint32_t victim = 3;  // index of the request
  int requests = 14;
  int clients = 7;
  int max_seqs = 8;
  int token_budget = 160;
  int blocks = 256;  // of 16 tokens; some 120 make ordinary preemption
  int starved_steps = 15;
  double slow_ratio = 3.0;
  int preemptions = 3;
  double pace = 1.0;         // of the whole machine
  bool busy = true;          // stretches of steps in which another process takes the core
  bool step_records = true;  // rows, budget and blocks are known
  bool owned_ranges = true;  // attention names its request
  int max_steps = 100000;
  bool ends_open = false;  // the last step hangs in attention for five seconds
};

ChainsBuilder make_chains(const RunOptions& options);
// Writes a run folder that holds them; `path` must not exist.
Status make_run(const std::string& path, const RunOptions& options);

}  // namespace teller::testing
