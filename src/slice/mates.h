// Compares each request's own operators with the same operator of its batch-mates, step by step.
#pragma once

#include <cstdint>
#include <vector>

#include "slice/observations.h"
#include "slice/robust.h"

namespace teller::slice_detail {

// One request's instances of one key in one step, against its mates' there.
struct MateStep {
  std::uint32_t step = 0;
  double log_ratio = 0;        // residual minus the median of the mates' residuals
  std::int64_t excess_ns = 0;  // what the ratio costs
  std::uint32_t node = 0;      // its slowest instance there
};

// A request's key over all its steps.
struct MateSeries {
  std::uint32_t key = 0;
  std::uint32_t request = 0;
  std::vector<MateStep> steps;  // in order
  double log_ratio = 0;         // median over the steps
  double spread = 0;            // MAD spread over the steps

  // Standard error of the median of independent, near-normal values: 1.2533 * sigma / sqrt(n).
  double standard_error() const;
};

// All series of a run, by key, then request. `fits` has one Fit per key id (unknown ones are left
// out); a step counts where at least two mates ran the same key.
std::vector<MateSeries> compare_mates(const std::vector<Observation>& observations,
                                      const KeyTable& keys, const std::vector<Fit>& fits);

}  // namespace teller::slice_detail
