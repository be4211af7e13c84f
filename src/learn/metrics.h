// Figures of merit, as docs/learn.md defines them. Plain numbers in, plain numbers out.
#pragma once

#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace teller::learn_detail {

struct StepScores {
  std::size_t positives = 0, negatives = 0;
  double accuracy = 0, precision = 0, recall = 0, f1 = 0;
  double auroc = 0.5, auprc = 0;
};

// `truth[i]`: the unit is abnormal; `scores[i]` >= threshold: it is called so. AUROC counts ties
// half (Mann-Whitney); AUPRC is average precision.
StepScores step_scores(const std::vector<bool>& truth, const std::vector<double>& scores,
                       double threshold);

// The threshold with the largest F1; of equals the middle one between neighbours. 0 without data.
double best_f1_threshold(const std::vector<bool>& truth, const std::vector<double>& scores);

// An operator as metrics see it: layer, family, rank (-1 in the vertical view).
using OperatorKey = std::tuple<std::uint8_t, std::string, std::int32_t>;
using OperatorSet = std::set<OperatorKey>;

struct SetScores {
  std::size_t units = 0;
  double precision = 0, recall = 0, f1 = 0, jaccard = 0;
};

// Averages over units of predicted against true sets: over units where either is non-empty
// (`macro`), over all with 0 for empty/empty (`all`), over units whose true set is non-empty
// (`macro_plus`).
struct OperatorScores {
  SetScores macro, all, macro_plus;
};
OperatorScores operator_scores(const std::vector<OperatorSet>& predicted,
                               const std::vector<OperatorSet>& truth);

struct ClassScores {
  std::size_t count = 0;
  double accuracy = 0, macro_recall = 0, macro_f1 = 0;  // over classes that the truth has
  double calibration_error =
      0;  // expected, ten equal bins of the confidence; 0 without confidences
  std::vector<std::vector<std::size_t>> confusion;  // [truth][predicted]
};

// Classes are 0 .. classes - 1; `confidence` may be empty.
ClassScores class_scores(const std::vector<std::size_t>& truth,
                         const std::vector<std::size_t>& predicted,
                         const std::vector<double>& confidence, std::size_t classes);

}  // namespace teller::learn_detail
