// Labels a step by its local twin: a fork of the state just before it, with what the fault holds
// given back and the same draws (docs/labels.md).
#pragma once

#include <vector>

#include "run_folder/labels.h"
#include "simulate/stack.h"

namespace teller::simulate {

class Judge {
 public:
  Judge(const Stack& stack, const Fault& fault, const EngineConfig& config)
      : stack_(stack), fault_(fault), config_(config) {}

  // Labels of the step that led from `before` to `outcome`, by rank, and across ranks where there
  // are several. Notes in `outcome` what the fault took from requests, for the twins of later
  // steps.
  std::vector<StepLabel> label(const EngineState& before, StepOutcome& outcome);

  // Requests that a cause step concerns.
  const std::vector<int>& harmed() const { return harmed_; }

 private:
  struct Comparison;
  Comparison compare(const EngineState& before, const StepOutcome& outcome,
                     const StepOutcome& twin) const;
  double noise(const EngineState& healthy, const StepOutcome& twin, std::size_t rank) const;
  StepLabel judge(const Comparison& comparison, const EngineState& healthy,
                  const StepOutcome& outcome, const StepOutcome& twin, std::size_t rank) const;
  void name_operators(const Comparison& comparison, int rank, StepLabel& label) const;
  std::vector<int> culprits(const Comparison& comparison) const;
  void tie_ranks(const Comparison& comparison, std::vector<StepLabel>& labels) const;
  void label_hang(const StepOutcome& outcome, std::vector<StepLabel>& labels) const;
  StepLabel horizontal(const std::vector<StepLabel>& labels) const;
  void note_losses(StepOutcome& outcome, const StepOutcome& twin) const;
  bool is_affected(const StepOutcome& outcome) const;
  std::string explain(const StepLabel& label, const StepOutcome& outcome) const;

  const Stack& stack_;
  const Fault& fault_;
  const EngineConfig& config_;
  std::vector<int> harmed_;
};

}  // namespace teller::simulate
