// The pace of each step: how much longer everything in it took than expected. Shared machines,
// clocks and garbage collection slow all operators of a step alike, and say nothing about one of
// them.
#pragma once

#include <vector>

#include "slice/observations.h"
#include "slice/robust.h"

namespace teller::slice_detail {

// Median residual (self time) of one key in one step.
struct KeyResidual {
  std::uint32_t key = 0;
  double value = 0;
};

// Per step of a run: the median residuals of its keys that `self_fits` knows, by key.
std::vector<std::vector<KeyResidual>> step_residuals(const std::vector<Observation>& observations,
                                                     const std::vector<Fit>& self_fits,
                                                     std::size_t steps);

// Per step: the median over the keys that matter (that take at least 0.5 % of all self time); 0
// where fewer than four do. Keys do not weigh their time: one slow operator that dominates the step
// would pass for a slow machine.
std::vector<double> step_pace(const std::vector<Observation>& observations,
                              const std::vector<std::vector<KeyResidual>>& residuals,
                              std::size_t keys);

}  // namespace teller::slice_detail
