#include "learn/metrics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace teller::learn_detail {

namespace {

double ratio(double part, double whole) {
  return whole > 0 ? part / whole : 0;
}
double harmonic(double a, double b) {
  return a + b > 0 ? 2 * a * b / (a + b) : 0;
}

// Places in falling order of score.
std::vector<std::size_t> by_score(const std::vector<double>& scores) {
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return scores[a] > scores[b]; });
  return order;
}

// Walks groups of equal scores from the highest: visit(true positives so far, false ones, in the
// group: positives, negatives, its score).
template <typename Visit>
void walk_groups(const std::vector<bool>& truth, const std::vector<double>& scores, Visit&& visit) {
  const std::vector<std::size_t> order = by_score(scores);
  std::size_t right = 0, wrong = 0;
  for (std::size_t i = 0; i < order.size();) {
    const double score = scores[order[i]];
    std::size_t positives = 0, negatives = 0;
    for (; i < order.size() && scores[order[i]] == score; ++i) {
      truth[order[i]] ? ++positives : ++negatives;
    }
    right += positives;
    wrong += negatives;
    visit(right, wrong, positives, negatives, score);
  }
}

void add_ranking(const std::vector<bool>& truth, const std::vector<double>& scores, StepScores& s) {
  double area = 0, precision_sum = 0;
  walk_groups(
      truth, scores,
      [&](std::size_t right, std::size_t wrong, std::size_t positives, std::size_t negatives,
          double) {
        const double above = static_cast<double>(right - positives);
        area += static_cast<double>(negatives) * (above + 0.5 * static_cast<double>(positives));
        precision_sum += static_cast<double>(positives) *
                         ratio(static_cast<double>(right), static_cast<double>(right + wrong));
      });
  const auto pairs = static_cast<double>(s.positives) * static_cast<double>(s.negatives);
  if (pairs > 0) s.auroc = area / pairs;
  s.auprc = ratio(precision_sum, static_cast<double>(s.positives));
}

void add_set(SetScores& sum, const OperatorSet& predicted, const OperatorSet& truth) {
  const auto common = static_cast<double>(std::count_if(
      predicted.begin(), predicted.end(), [&](const auto& key) { return truth.contains(key); }));
  const auto p = static_cast<double>(predicted.size()), t = static_cast<double>(truth.size());
  const double precision = ratio(common, p), recall = ratio(common, t);
  ++sum.units;
  sum.precision += precision;
  sum.recall += recall;
  sum.f1 += harmonic(precision, recall);
  sum.jaccard += ratio(common, p + t - common);
}

void average(SetScores& sum) {
  const auto n = static_cast<double>(std::max<std::size_t>(sum.units, 1));
  for (double* value : {&sum.precision, &sum.recall, &sum.f1, &sum.jaccard}) *value /= n;
}

double calibration_error(const std::vector<std::size_t>& truth,
                         const std::vector<std::size_t>& predicted,
                         const std::vector<double>& confidence) {
  constexpr std::size_t kBins = 10;
  std::array<double, kBins> count{}, right{}, sure{};
  for (std::size_t i = 0; i < confidence.size(); ++i) {
    const auto bin =
        std::min(static_cast<std::size_t>(std::max(confidence[i], 0.0) * kBins), kBins - 1);
    ++count[bin];
    sure[bin] += confidence[i];
    right[bin] += truth[i] == predicted[i] ? 1 : 0;
  }
  double error = 0;
  for (std::size_t bin = 0; bin < kBins; ++bin) error += std::abs(sure[bin] - right[bin]);
  return ratio(error, static_cast<double>(confidence.size()));
}

}  // namespace

StepScores step_scores(const std::vector<bool>& truth, const std::vector<double>& scores,
                       double threshold) {
  StepScores s;
  double hits = 0, called = 0, right = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    truth[i] ? ++s.positives : ++s.negatives;
    const bool says = scores[i] >= threshold;
    called += says ? 1 : 0;
    hits += says && truth[i] ? 1 : 0;
    right += says == truth[i] ? 1 : 0;
  }
  s.accuracy = ratio(right, static_cast<double>(truth.size()));
  s.precision = ratio(hits, called);
  s.recall = ratio(hits, static_cast<double>(s.positives));
  s.f1 = harmonic(s.precision, s.recall);
  add_ranking(truth, scores, s);
  return s;
}

double best_f1_threshold(const std::vector<bool>& truth, const std::vector<double>& scores) {
  const auto positives = static_cast<double>(std::count(truth.begin(), truth.end(), true));
  std::vector<std::pair<double, double>> steps;  // F1 if called from this score on, the score
  walk_groups(truth, scores,
              [&](std::size_t right, std::size_t wrong, std::size_t, std::size_t, double score) {
                const double hits = static_cast<double>(right);
                steps.emplace_back(2 * hits / (positives + hits + static_cast<double>(wrong)),
                                   score);
              });
  if (steps.empty()) return 0;
  std::size_t best = 0;
  for (std::size_t i = 1; i < steps.size(); ++i) {
    if (steps[i].first > steps[best].first) best = i;
  }
  if (best + 1 == steps.size()) return steps[best].second;
  return 0.5 * (steps[best].second + steps[best + 1].second);
}

OperatorScores operator_scores(const std::vector<OperatorSet>& predicted,
                               const std::vector<OperatorSet>& truth) {
  OperatorScores scores;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    add_set(scores.all, predicted[i], truth[i]);
    if (!predicted[i].empty() || !truth[i].empty()) add_set(scores.macro, predicted[i], truth[i]);
    if (!truth[i].empty()) add_set(scores.macro_plus, predicted[i], truth[i]);
  }
  average(scores.all);
  average(scores.macro);
  average(scores.macro_plus);
  return scores;
}

ClassScores class_scores(const std::vector<std::size_t>& truth,
                         const std::vector<std::size_t>& predicted,
                         const std::vector<double>& confidence, std::size_t classes) {
  ClassScores s;
  s.count = truth.size();
  s.confusion.assign(classes, std::vector<std::size_t>(classes, 0));
  for (std::size_t i = 0; i < truth.size(); ++i) ++s.confusion[truth[i]][predicted[i]];
  double right = 0, present = 0;
  for (std::size_t c = 0; c < classes; ++c) {
    double row = 0, column = 0;
    for (std::size_t other = 0; other < classes; ++other) {
      row += static_cast<double>(s.confusion[c][other]);
      column += static_cast<double>(s.confusion[other][c]);
    }
    const auto hits = static_cast<double>(s.confusion[c][c]);
    right += hits;
    if (row == 0) continue;
    ++present;
    s.macro_recall += ratio(hits, row);
    s.macro_f1 += harmonic(ratio(hits, column), ratio(hits, row));
  }
  s.accuracy = ratio(right, static_cast<double>(s.count));
  s.macro_recall = ratio(s.macro_recall, present);
  s.macro_f1 = ratio(s.macro_f1, present);
  if (confidence.size() == truth.size()) {
    s.calibration_error = calibration_error(truth, predicted, confidence);
  }
  return s;
}

}  // namespace teller::learn_detail
