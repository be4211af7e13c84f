#include "learn/verdict.h"

#include <gtest/gtest.h>

#include "learn/fit_thresholds.h"

namespace teller::learn_detail {
namespace {

// A run of units whose predictions are given; tokens are not looked at.
struct MadeRun {
  std::vector<Sample> samples;
  std::vector<Prediction> predictions;

  void add(float abnormal, FaultType type, float sure = 4) {
    Prediction prediction;
    prediction.abnormal = abnormal;
    prediction.types[static_cast<std::size_t>(type) - 1] = sure;
    predictions.push_back(prediction);
    samples.emplace_back();
  }
  Judged judged() const {
    Judged j;
    for (const Sample& sample : samples) j.samples.push_back(&sample);
    for (const Prediction& prediction : predictions) j.predictions.push_back(&prediction);
    return j;
  }
};

Thresholds with_k(std::int64_t k) {
  Thresholds thresholds;
  thresholds.step = 1;
  for (Agreement& agreement : thresholds.agreement) agreement.steps = k;
  return thresholds;
}

TEST(JudgeRun, NeedsKStepsThatAgree) {
  MadeRun run;
  for (int i = 0; i < 3; ++i) run.add(2, FaultType::kMemory);
  for (int i = 0; i < 50; ++i) run.add(-3, FaultType::kScheduling);
  EXPECT_TRUE(judge_run(run.judged(), with_k(3)).abnormal);
  EXPECT_EQ(judge_run(run.judged(), with_k(3)).type, FaultType::kMemory);
  EXPECT_FALSE(judge_run(run.judged(), with_k(4)).abnormal);
  EXPECT_EQ(judge_run(run.judged(), with_k(3)).abnormal_units.size(), 3U);
}

TEST(JudgeRun, ScoreIsTheKthLargestLogitLessTheThreshold) {
  MadeRun run;
  for (const float logit : {5.0F, 3.0F, 2.0F, 0.0F}) run.add(logit, FaultType::kMemory);
  EXPECT_DOUBLE_EQ(judge_run(run.judged(), with_k(2)).score, 2);
  EXPECT_DOUBLE_EQ(judge_run(run.judged(), with_k(4)).score, -1);
}

TEST(JudgeRun, ATypeMayAskForSurerSteps) {
  MadeRun run;
  for (int i = 0; i < 3; ++i) run.add(2, FaultType::kMemory);
  Thresholds thresholds = with_k(3);
  thresholds.agreement[0].logit = 2.5;
  EXPECT_FALSE(judge_run(run.judged(), thresholds).abnormal);
  EXPECT_EQ(judge_run(run.judged(), thresholds).abnormal_units.size(), 3U);
  run.add(3, FaultType::kMemory);
  thresholds.agreement[0].steps = 1;
  EXPECT_TRUE(judge_run(run.judged(), thresholds).abnormal);
}

TEST(JudgeRun, AShareOfTheStepsMayBeAskedFor) {
  MadeRun run;
  for (int i = 0; i < 5; ++i) run.add(2, FaultType::kMemory);
  for (int i = 0; i < 95; ++i) run.add(-2, FaultType::kMemory);
  Thresholds thresholds = with_k(1);
  thresholds.agreement[0].share = 0.05;
  EXPECT_TRUE(judge_run(run.judged(), thresholds).abnormal);
  thresholds.agreement[0].share = 0.051;
  EXPECT_FALSE(judge_run(run.judged(), thresholds).abnormal);
}

TEST(JudgeRun, StepsThatDoNotAgreeAreUnknown) {
  MadeRun run;
  for (int i = 0; i < 4; ++i) run.add(3, FaultType::kMemory);
  for (int i = 0; i < 4; ++i) run.add(3, FaultType::kScheduling);
  for (int i = 0; i < 4; ++i) run.add(3, FaultType::kCommunication);
  const RunVerdict verdict = judge_run(run.judged(), with_k(3));
  EXPECT_TRUE(verdict.abnormal);
  EXPECT_TRUE(verdict.unknown);
}

TEST(JudgeRun, AnEmptyRunIsHealthy) {
  const RunVerdict verdict = judge_run({}, with_k(1));
  EXPECT_FALSE(verdict.abnormal);
}

TEST(RanksAsIn, WhereTheLabelNamesNoRankNoneMatters) {
  const OperatorSet truth = {{2, "a", -1}, {2, "b", 3}};
  const OperatorSet predicted = {{2, "a", 0}, {2, "a", 1}, {2, "b", 2}};
  EXPECT_EQ(ranks_as_in(truth, predicted), (OperatorSet{{2, "a", -1}, {2, "b", 2}}));
}

TEST(Probability, RisesWithScoreAndPrior) {
  RunVerdict low, high;
  low.score = -3;
  high.score = 3;
  const Calibration calibration{1, 0, 0.5};
  EXPECT_LT(run_probability(low, calibration, 0.5), run_probability(high, calibration, 0.5));
  EXPECT_LT(run_probability(high, calibration, 0.05), run_probability(high, calibration, 0.5));
  EXPECT_NEAR(run_probability({}, calibration, 0.5), 0.5, 1e-12);
}

TEST(LogOdds, FallWithTheOtherTypes) {
  Prediction prediction;
  prediction.abnormal = 5;
  prediction.types = {3, 0, 0, 0, 0};
  EXPECT_GT(log_odds(prediction, FaultType::kMemory), log_odds(prediction, FaultType::kScheduling));
}

}  // namespace
}  // namespace teller::learn_detail
