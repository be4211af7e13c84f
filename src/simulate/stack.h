// A simulated engine: one step from a state. Steps are functions of state, fault and draws, so that
// a twin of a step can be run from a copy of the state.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "run_folder/labels.h"
#include "simulate/draw.h"
#include "simulate/engine_state.h"
#include "simulate/machine.h"
#include "simulate/mechanisms.h"
#include "simulate/scheduler.h"
#include "simulate/step_tree.h"

namespace teller::simulate {

struct LogLine {
  std::int64_t time_ns = 0;
  int rank = 0;
  std::string text;
};

struct StepOutcome {
  EngineState after;
  Plan plan;
  StepTree tree;
  std::vector<int> finished;             // requests
  std::vector<std::int64_t> latency_ns;  // by rank: from schedule to sampled tokens
  std::int64_t record_ns = 0;            // when the step's record is written
  std::int64_t begin_ns = 0, end_ns = 0;
  std::vector<LogLine> lines;  // what the fault has the program say
  // What a hang is to be labelled with, and the rank that causes it; -1: there is none.
  std::vector<OperatorLabel> hang_operators;
  int hang_rank = -1;
};

class Recording;

class Stack {
 public:
  virtual ~Stack() = default;
  virtual EngineState start() const = 0;
  // Takes in what has arrived; waits for it if there is nothing to do. False: the run is over.
  virtual bool prepare(EngineState& state) const = 0;
  // Runs the next step of `before`. `salt` 0: the run's own draws; others: those of a fork.
  virtual StepOutcome step(const EngineState& before, const Fault& fault,
                           std::uint64_t salt) const = 0;
  virtual std::int64_t pid(int rank) const = 0;
  // Writes down what is seen of a step from outside.
  virtual void record(const StepOutcome& outcome, const Fault& fault,
                      Recording& recording) const = 0;
  virtual void begin(const EngineState& state, Recording& recording) const = 0;
  virtual void end(const EngineState& state, Recording& recording) const = 0;
};

}  // namespace teller::simulate
