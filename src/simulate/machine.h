// The machine that a run is simulated on: how fast it is, and how it is disturbed.
#pragma once

#include <cstdint>
#include <vector>

#include "simulate/draw.h"
#include "simulate/quantiles.h"

namespace teller::simulate {

struct MachineConfig {
  double min_pace = 0.7, max_pace = 3;  // of the whole run: 2 is half as fast
  double stretches_per_step = 0.012;    // busy stretches, in which all is slower
  double max_slice_rate = 0.0012;       // time slices lost to others, per operator
  double gc_per_step = 0.01;            // pauses of the host's garbage collection
};

class Machine {
 public:
  Machine(const Key& seed, const MachineConfig& config, int max_steps);

  // Whether the machine is shared with others that are busy (the heavier jitter).
  bool is_busy() const { return busy_; }
  // Logarithm of what all of a step's times are multiplied by. It is the machine's: forks of a step
  // with other draws see the same.
  double log_pace(int step, const Quantiles& paces, double correlation) const;
  // Time lost in one operator to other processes or to garbage collection; mostly 0.
  std::int64_t lost_ns(const Key& draws) const;

 private:
  Key seed_;
  double log_run_pace_ = 0;
  double slice_rate_ = 0;
  double gc_rate_ = 0;  // per operator
  bool busy_ = false;
  std::vector<float> stretch_;  // log of the factor, by step
};

}  // namespace teller::simulate
