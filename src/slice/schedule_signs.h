// What the scheduler did to each request: steps in which it was passed over although it could have
// run, and preemptions. Read from the rows.
#pragma once

#include <cstdint>
#include <vector>

#include "run_folder/chains.h"
#include "slice/findings.h"
#include "slice/slice.h"

namespace teller::slice_detail {

struct RequestSchedule {
  std::vector<std::uint32_t> passed_over;  // rows: waiting, with room for it, while others ran
  std::vector<std::uint32_t> preempted;    // rows
  std::int64_t lost_tokens = 0;            // computed tokens that preemptions threw away
  std::int64_t recomputed_tokens = 0;      // scheduled again below the highest `computed`
  std::uint32_t served = 0;                // rows with tokens
  std::uint32_t unjudged_waits = 0;        // waiting rows whose step says nothing about room
};

// One entry per request of the run.
std::vector<RequestSchedule> read_schedule(const Chains& chains);

// Tokens that a KV block holds, measured while the same requests decode in consecutive steps; 0
// where the record shows too little of that.
double kv_block_tokens(const Chains& chains);

// What healthy runs do to a request at most.
struct ScheduleNorm {
  bool known = false;  // from a baseline with rows
  std::size_t passed_over = 0;
  std::size_t preemptions = 0;
  double preemptions_per_served = 0;  // of all requests together
};
void widen(ScheduleNorm& norm, const std::vector<RequestSchedule>& schedule);

// Adds the requests that stand out, and a word on the pool if it is short for all.
void judge_schedule(const Chains& chains, const ScheduleNorm& norm, const SliceOptions& options,
                    Findings& findings);

}  // namespace teller::slice_detail
