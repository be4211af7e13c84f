// What operators of the demo engine cost: the fit of scripts/fit_demo_stack.py, which is part of
// the program.
#pragma once

#include <array>
#include <string_view>

#include "simulate/quantiles.h"
#include "teller/result.h"

namespace teller::simulate {

// Operators of the demo engine, and the gaps before and after them.
enum DemoOp : std::size_t {
  kSchedule,
  kPrepareInputs,
  kEmbedding,
  kQkvProjection,
  kKvWrite,
  kAttention,
  kOutputProjection,
  kMlp,
  kLmHead,
  kSample,
  kUpdateRequests,
  kBeforeStep,
  kBeforeSchedule,
  kBeforePrepareInputs,
  kBeforeExecuteModel,
  kBeforeModelForward,
  kBeforeEmbedding,
  kBeforeQkvProjection,
  kBeforeKvWrite,
  kBeforeAttention,
  kBeforeOutputProjection,
  kBeforeMlp,
  kBeforeLmHead,
  kBeforeSample,
  kBeforeUpdateRequests,
  kEndOfModelForward,
  kEndOfExecuteModel,
  kEndOfStep,
  kDemoOpCount
};

// The name of an operator in the fit.
std::string_view demo_op_name(DemoOp op);

struct DemoCost {
  // Log of the median time in ns: a + b log(1 + tokens) + c log(1 + context).
  std::array<std::array<double, 3>, 2> line{};  // decode, prefill
  double first = 0;                             // added for the first one of a step
  std::array<Quantiles, 2> residual;            // on a quiet and on a busy machine
};

struct DemoCosts {
  std::array<DemoCost, kDemoOpCount> ops;
  std::array<Quantiles, 2> pace;
  std::array<double, 2> pace_correlation{};
};

// The fit in this program. An error only if the program was built with a broken one.
const Result<DemoCosts>& demo_costs();

}  // namespace teller::simulate
