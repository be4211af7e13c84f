// Features of every node of a step, and which nodes are suspicious: docs/slice.md.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "run_folder/features.h"
#include "slice/operators.h"
#include "slice/persistence.h"
#include "slice/row_features.h"
#include "slice/side_values.h"
#include "slice/step_kinds.h"

namespace teller::slice_detail {

// A ghost of a step.
struct Ghost {
  std::uint32_t under = 0;  // node that it should stand under
  std::uint32_t key = 0;
};

// What is known of one step: entry i is of node root + i.
struct StepFeatures {
  std::vector<NodeFeatures> nodes;
  std::vector<float> score;  // above 0: suspicious
  std::vector<Ghost> ghosts;
};

// Clamps to +-kFeatureLimit; 0 for NaN.
float feature_value(double value);

// Operators that the findings name. Their instances are suspicious from a smaller deviation on:
// what deviates in many steps need not stand out in each.
struct Suspects {
  std::set<std::pair<std::uint32_t, std::uint32_t>> owned;  // key, request
  std::set<std::uint32_t> shared;                           // keys
};
Suspects suspects_of(const Findings& findings, const KeyTable& keys);
inline constexpr float kSuspectZ = 1.0F;
// And so are those that deviate by this over the steps around.
inline constexpr float kAroundZ = 1.25F;

// Failed, open, extra or a ghost.
bool is_bad_whatever_its_time(const NodeFeatures& features);

class FeatureMaker {
 public:
  FeatureMaker(const Case& c, Suspects suspects);

  // The step's pace as a logarithm.
  float pace(std::uint32_t step) const { return static_cast<float>(paces_[step]); }
  // Replaces what `out` holds by the features of `step`.
  void measure(std::uint32_t step, StepFeatures& out) const;

 private:
  struct Range {
    std::size_t begin, end;
  };
  Range observations_of(std::uint32_t step) const;
  void measure_times(std::uint32_t step, Range range, StepFeatures& out) const;
  void measure_sides(std::uint32_t root, Range range, StepFeatures& out) const;
  void measure_mates(std::uint32_t root, Range range, StepFeatures& out) const;
  // Collects the deviations of all steps, for measure_around().
  void follow_all_steps();
  void measure_around(std::uint32_t step, Range range, StepFeatures& out) const;
  void measure_presence(std::uint32_t step, Range range, StepFeatures& out) const;
  void measure_states(std::uint32_t step, StepFeatures& out) const;
  void measure_rows(std::uint32_t step, StepFeatures& out) const;
  float least_z(const Observation& o) const;
  void find_suspicious(std::uint32_t step, Range range, StepFeatures& out) const;

  const Case& c_;
  const Suspects suspects_;
  std::vector<double> paces_;
  std::vector<SideValue> sides_;
  Persistence around_;
  RowFeatures rows_;
  std::vector<StepKind> kinds_;  // by step
  std::map<StepKind, std::vector<std::uint32_t>> expected_;
};

}  // namespace teller::slice_detail
