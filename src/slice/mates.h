// Compares each request's own operators with the same operator of its batch-mates, step by step.
#pragma once

#include <cstdint>
#include <optional>
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
  bool first = false;          // no other request ran this operator before it in that step
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

// By key id: for each request that was first in at least three steps, the median of its ratios in
// those steps.
using FirstMedians = std::vector<std::vector<double>>;
void collect_first(const std::vector<MateSeries>& run, FirstMedians& medians);

// By key id: how much longer (log ratio) an operator takes for the request that a step runs first,
// whoever that is: it finds cold caches. Seen on CPU: 1.3 to 1.9 times. Not known from fewer than
// three requests.
using FirstEffect = std::vector<std::optional<double>>;
FirstEffect first_effect_of(const FirstMedians& medians);

// Takes the effect off; steps in which the request was first are dropped where it is not known.
void remove_first_effect(std::vector<MateSeries>& series, const FirstEffect& effect);

}  // namespace teller::slice_detail
