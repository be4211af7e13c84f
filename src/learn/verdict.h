// From what the model says of single units to what is said of the run.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "learn/bundle.h"
#include "learn/network.h"
#include "learn/samples.h"

namespace teller::learn_detail {

// A run's units with what the model says of them; all of one run.
struct Judged {
  const RunInput* run = nullptr;
  std::vector<const Sample*> samples;
  std::vector<const Prediction*> predictions;
};

double sigmoid(double x);
// softmax of the type logits, by FaultType - 1.
std::array<double, kCategories> type_probabilities(const Prediction& prediction);
// The most probable type.
FaultType likeliest_type(const Prediction& prediction);
// Log odds of "abnormal, and of this type".
double log_odds(const Prediction& prediction, FaultType type);

struct RunVerdict {
  bool abnormal = false;
  bool unknown = false;               // abnormal, but the steps do not agree on a type
  FaultType type = FaultType::kNone;  // the likeliest, even where the run is healthy
  double score = 0;  // k-th largest logit of the units of that type, less the threshold
  std::array<double, kCategories> support{};  // abnormal units of each type over its k
  std::vector<std::size_t> abnormal_units;    // places in Judged, in order
  std::vector<std::size_t> agreeing_units;    // those of the verdict's type
};

// Units that must agree on a type in a run of `units`: k.
std::size_t needed_units(const Agreement& agreement, std::size_t units);

// A run is abnormal if at least k of its units are and agree on a type, k by type. The type with
// the most such units, measured by its k, is the verdict's; it is unknown if that is less than half
// of what all types together have.
RunVerdict judge_run(const Judged& judged, const Thresholds& thresholds);

// An operator as diagnosed: one entry per (layer, family, rank, request).
struct OperatorVerdict {
  std::uint32_t node = 0;  // its most suspicious instance
  std::int32_t rank = -1;
  double score = 0;  // summed over the agreeing units
  std::size_t units = 0;
};

struct RequestVerdict {
  std::uint32_t request = 0;
  double score = 0;
};

// The node that a token is named by: its first one.
std::uint32_t node_of_token(const RunInput& run, std::uint32_t token);

// Most suspicious first.
std::vector<OperatorVerdict> rank_operators(const Judged& judged, const RunVerdict& verdict,
                                            const Thresholds& thresholds);
std::vector<RequestVerdict> rank_requests(const Judged& judged, const RunVerdict& verdict,
                                          const Thresholds& thresholds);
// Ranks by summed pointers; empty where fewer than two are known.
std::vector<std::pair<std::int32_t, double>> rank_ranks(const Judged& judged,
                                                        const RunVerdict& verdict,
                                                        const Thresholds& thresholds);

// Requests named: those with at least `thresholds.request` of the strongest one's score.
std::vector<RequestVerdict> named_requests(std::vector<RequestVerdict> ranked,
                                           const Thresholds& thresholds);

}  // namespace teller::learn_detail
