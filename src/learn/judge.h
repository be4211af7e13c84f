// Asks the model about whole runs, and measures its answers against labels.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "learn/fit_thresholds.h"
#include "learn/network.h"
#include "learn/verdict.h"

namespace teller::learn_detail {

// Owns the predictions that its runs refer to.
struct JudgedRuns {
  std::vector<std::vector<Prediction>> predictions;
  std::vector<Judged> runs;
};

// One Judged per run; `runs` and `samples` outlive it.
JudgedRuns judge_samples(const Network& network, const std::vector<const RunInput*>& runs,
                         const std::vector<const std::vector<Sample>*>& samples);

// Metrics of labelled runs: per view steps and operators, fault type per request and per run.
// `calibration` may be null. Format: docs/learn.md.
nlohmann::ordered_json measure(const std::vector<Judged>& runs, const Thresholds& thresholds,
                               const Calibration* calibration);

}  // namespace teller::learn_detail
