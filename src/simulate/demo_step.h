// One step of the demo engine, laid out in time.
#pragma once

#include <cstdint>

#include "simulate/demo_costs.h"
#include "simulate/machine.h"
#include "simulate/stack.h"

namespace teller::simulate {

// Times one step's operators: cost, jitter, the machine's pace, and what a fault adds.
class DemoTimer {
 public:
  // `draws` are the operators' own; `losses`, of time lost to others, are the machine's.
  DemoTimer(const DemoCosts& costs, const Machine& machine, const Key& draws, const Key& losses,
            double log_pace)
      : costs_(costs), machine_(machine), draws_(draws), losses_(losses), log_pace_(log_pace) {}

  struct Work {
    bool prefill = false;
    double tokens = 0, context = 0;
    bool first = false;
    std::uint64_t instance = 0;  // layer and request
    double log_factor = 0;       // what a fault multiplies by
  };

  std::int64_t ns(DemoOp op, const Work& work) const;

 private:
  const DemoCosts& costs_;
  const Machine& machine_;
  Key draws_, losses_;
  double log_pace_;
};

// Fills in what happens in the step whose plan is in `out`: tree, latency and end.
void build_demo_step(const DemoTimer& timer, const Fault& fault, DemoOp slow_gemm,
                     StepOutcome& out);

}  // namespace teller::simulate
