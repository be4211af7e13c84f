#include "slice/robust.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace teller::slice_detail {
namespace {

TEST(Robust, MedianAndSpread) {
  EXPECT_EQ(median({}), 0);
  EXPECT_EQ(median({3}), 3);
  EXPECT_EQ(median({1, 9, 2}), 2);
  EXPECT_EQ(median({4, 1, 3, 2}), 2.5);
  EXPECT_NEAR(mad_spread({1, 2, 3, 4, 100}), 1.4826, 1e-9);
  EXPECT_EQ(quantile({5, 1, 3}, 1.0), 5);
}

TEST(Robust, LeaveOneOutEqualsTheLongWay) {
  std::mt19937 random(7);
  for (std::size_t count = 1; count < 40; ++count) {
    std::vector<double> values;
    for (std::size_t i = 0; i < count; ++i) values.push_back(static_cast<double>(random() % 25));
    const LeaveOneOut without(values);
    for (std::size_t i = 0; i < count; ++i) {
      std::vector<double> others = values;
      others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
      EXPECT_NEAR(without.median_without(values[i]), median(others), 1e-12);
      EXPECT_NEAR(without.spread_without(values[i]), mad_spread(others), 1e-12);
    }
  }
}

// GIVEN so many points that a sample is taken, and every third of them slow, as the third layer of
// a model might be
// THEN the sample has no more than its share of slow ones.
TEST(Robust, ASampleHasNoPeriod) {
  std::vector<Point> points;
  for (int i = 0; i < 60000; ++i) points.push_back({-1, -1, i % 3 == 0 ? 9.0 : 7.0});
  EXPECT_NEAR(fit_log_time(points).predict(-1, -1), 7, 0.01);
}

// GIVEN points on a line with noise, a fifth of them four times too slow
// THEN the fit finds the line.
TEST(Robust, FitIgnoresAMinority) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> uniform(0, 1);
  std::vector<Point> points;
  for (int i = 0; i < 500; ++i) {
    const double tokens = 1 + 5 * uniform(random), context = 3 + 3 * uniform(random);
    const double noise = 0.2 * (uniform(random) - 0.5);
    const double slow = i % 5 == 0 ? std::log(4) : 0;
    points.push_back({tokens, context, 10 + 0.7 * tokens + 0.3 * context + noise + slow});
  }
  const Fit fit = fit_log_time(points);
  EXPECT_NEAR(fit.b, 0.7, 0.05);
  EXPECT_NEAR(fit.c, 0.3, 0.05);
  EXPECT_NEAR(fit.predict(3, 5), 10 + 2.1 + 1.5, 0.1);
  EXPECT_LT(fit.spread, 0.2);
}

TEST(Robust, FitOfUnknownOrConstantWorkIsALevel) {
  const std::vector<Point> points(30, Point{-1, -1, 7});
  const Fit fit = fit_log_time(points);
  EXPECT_EQ(fit.b, 0);
  EXPECT_EQ(fit.c, 0);
  EXPECT_NEAR(fit.predict(-1, -1), 7, 1e-9);
  EXPECT_EQ(fit.spread, kSpreadFloor);
  EXPECT_FALSE(fit_log_time({}).known());
}

TEST(Robust, PredictionStaysInsideWhatWasSeen) {
  std::vector<Point> points;
  for (int i = 0; i < 50; ++i) points.push_back({i / 10.0, 0, i / 10.0});
  const Fit fit = fit_log_time(points);
  EXPECT_EQ(fit.predict(100, 0), fit.predict(4.9, 0));
}

TEST(Robust, DeviationIsLinearThenLogarithmic) {
  Fit fit;
  fit.spread = 0.1;
  EXPECT_NEAR(fit.deviation(0.001), 0.01, 1e-4);
  EXPECT_NEAR(fit.deviation(10), std::asinh(100), 1e-9);
}

}  // namespace
}  // namespace teller::slice_detail
