// Thresholds and calibration, from validation runs.
#pragma once

#include <vector>

#include "learn/bundle.h"
#include "learn/metrics.h"
#include "learn/verdict.h"

namespace teller::learn_detail {

// Threshold of steps: largest F1 of cause against normal. Of pointers: largest mean F1 of the
// operator sets of abnormal steps. k steps of a run: the middle of the values that give the most
// right run verdicts (healthy, or the right type).
Thresholds fit_thresholds(const std::vector<Judged>& runs);

// Platt's fit of the run's probability of being abnormal (Platt, 1999, with his smoothed targets).
Calibration fit_calibration(const std::vector<Judged>& runs, const Thresholds& thresholds);

// Probability that the run is abnormal where `prior` of all runs are.
double run_probability(const RunVerdict& verdict, const Calibration& calibration, double prior);

// Operators that the model names in a unit at this pointer threshold; ranks count in the horizontal
// view alone.
OperatorSet named_operators(const RunInput& run, const Sample& sample, const Prediction& prediction,
                            double pointer_threshold);
// `predicted` as it is compared with `truth`: where the truth names an operator on no rank in
// particular (-1), the ranks predicted for it do not matter.
OperatorSet ranks_as_in(const OperatorSet& truth, const OperatorSet& predicted);
// Operators that the unit's label names.
OperatorSet labelled_operators(const StepLabel& label);

// Whether the run is judged right: healthy, or abnormal and of the labelled type.
bool judged_right(const Judged& judged, const RunVerdict& verdict);

}  // namespace teller::learn_detail
