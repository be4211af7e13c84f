#include "learn/metrics.h"

#include <gtest/gtest.h>

#include <random>

namespace teller::learn_detail {
namespace {

TEST(StepScores, CountedByHand) {
  // called: 0.9 (right), 0.8 (wrong), 0.6 (right); not: 0.4 (positive, missed), 0.1
  const StepScores s =
      step_scores({true, false, true, true, false}, {0.9, 0.8, 0.6, 0.4, 0.1}, 0.5);
  EXPECT_DOUBLE_EQ(s.accuracy, 3.0 / 5);
  EXPECT_DOUBLE_EQ(s.precision, 2.0 / 3);
  EXPECT_DOUBLE_EQ(s.recall, 2.0 / 3);
  EXPECT_DOUBLE_EQ(s.f1, 2.0 / 3);
  EXPECT_DOUBLE_EQ(s.auroc, 4.0 / 6);  // pairs ranked right: 2 + 1 + 1
  EXPECT_DOUBLE_EQ(s.auprc, (1.0 / 1 + 2.0 / 3 + 3.0 / 4) / 3);
}

TEST(StepScores, TiesCountHalfAndEmptyIsHarmless) {
  EXPECT_DOUBLE_EQ(step_scores({true, false}, {1, 1}, 0).auroc, 0.5);
  EXPECT_DOUBLE_EQ(step_scores({}, {}, 0).f1, 0);
}

TEST(StepScores, AurocEqualsTheCountOfPairs) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 50; ++round) {
    std::vector<bool> truth;
    std::vector<double> scores;
    for (int i = 0; i < 40; ++i) {
      truth.push_back(random() % 3 == 0);
      scores.push_back(static_cast<double>(random() % 10));
    }
    double right = 0, pairs = 0;
    for (int i = 0; i < 40; ++i) {
      for (int j = 0; j < 40; ++j) {
        if (!truth[i] || truth[j]) continue;
        ++pairs;
        right += scores[i] > scores[j] ? 1 : scores[i] == scores[j] ? 0.5 : 0;
      }
    }
    EXPECT_NEAR(step_scores(truth, scores, 5).auroc, pairs > 0 ? right / pairs : 0.5, 1e-12);
  }
}

TEST(BestThreshold, HasTheLargestF1) {
  std::mt19937_64 random(9);
  for (int round = 0; round < 50; ++round) {
    std::vector<bool> truth;
    std::vector<double> scores;
    for (int i = 0; i < 30; ++i) {
      truth.push_back(random() % 2 == 0);
      scores.push_back(static_cast<double>(random() % 12) + (truth.back() ? 3 : 0));
    }
    const double best = step_scores(truth, scores, best_f1_threshold(truth, scores)).f1;
    for (double t = -1; t < 16; t += 0.5) EXPECT_LE(step_scores(truth, scores, t).f1, best + 1e-12);
  }
}

TEST(OperatorScores, ThreeAverages) {
  const OperatorKey a{2, "a", -1}, b{2, "b", -1};
  // both empty; a named for {a, b}; b named where nothing is true
  const OperatorScores s = operator_scores({{}, {a}, {b}}, {{}, {a, b}, {}});
  EXPECT_EQ(s.all.units, 3U);
  EXPECT_EQ(s.macro.units, 2U);
  EXPECT_EQ(s.macro_plus.units, 1U);
  EXPECT_DOUBLE_EQ(s.macro_plus.precision, 1);
  EXPECT_DOUBLE_EQ(s.macro_plus.f1, 2.0 / 3);
  EXPECT_DOUBLE_EQ(s.macro_plus.jaccard, 0.5);
  EXPECT_DOUBLE_EQ(s.macro.f1, 1.0 / 3);
  EXPECT_DOUBLE_EQ(s.all.f1, 2.0 / 9);
}

TEST(ClassScores, CountedByHand) {
  const ClassScores s = class_scores({0, 0, 1, 2}, {0, 1, 1, 1}, {}, 4);
  EXPECT_DOUBLE_EQ(s.accuracy, 0.5);
  EXPECT_DOUBLE_EQ(s.macro_recall, (0.5 + 1 + 0) / 3);
  EXPECT_DOUBLE_EQ(s.macro_f1, (2.0 / 3 + 0.5 + 0) / 3);
  EXPECT_EQ(s.confusion[0][1], 1U);
  // sure of .9 twice, right once: |1.8 - 1| / 2
  EXPECT_NEAR(class_scores({0, 1}, {0, 0}, {0.9, 0.9}, 2).calibration_error, 0.4, 1e-12);
}

}  // namespace
}  // namespace teller::learn_detail
