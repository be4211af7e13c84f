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
  double contended_share = 0.55;        // of the runs: others want the same core all along
};

class Machine {
 public:
  Machine(const Key& seed, const MachineConfig& config, int max_steps);

  // Whether the machine is shared with others that are busy (the heavier jitter).
  bool is_busy() const { return busy_; }
  // Logarithm of what all of a step's times are multiplied by. It is the machine's: forks of a step
  // with other draws see the same.
  double log_pace(int step, const Quantiles& paces, double correlation) const;
  // Time lost in one operator of `work_ns` to other processes or to garbage collection; mostly 0.
  // Where others want the core, it is taken away again and again: after some milliseconds of work,
  // for as long as they keep it. What lies between is as fast as ever.
  std::int64_t lost_ns(const Key& draws, std::int64_t work_ns) const;

 private:
  Key seed_;
  double log_run_pace_ = 0;
  double slice_rate_ = 0;
  double gc_rate_ = 0;  // per operator
  bool busy_ = false;
  double quantum_ns_ = 0;  // work between two losses of the core, on average; 0: it is never lost
  double waiting_ns_ = 0;  // how long it is lost, on average
  std::vector<float> stretch_;  // log of the factor, by step
};

}  // namespace teller::simulate
