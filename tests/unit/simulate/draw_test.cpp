#include "simulate/draw.h"

#include <gtest/gtest.h>

#include "simulate/quantiles.h"

namespace teller::simulate {
namespace {

TEST(Key, DrawsDependOnTheKeyAndNotOnCallOrder) {
  const Key root(7);
  const double first = root.with("a").with(3).uniform();
  root.with("b").uniform();
  EXPECT_EQ(first, Key(7).with("a").with(3).uniform());
  EXPECT_NE(first, Key(8).with("a").with(3).uniform());
  EXPECT_NE(first, root.with("a").with(4).uniform());
  EXPECT_NE(root.with("a").with("b").uniform(), root.with("b").with("a").uniform());
}

TEST(Key, IsUniform) {
  double sum = 0;
  int low = 0;
  for (std::uint64_t i = 0; i < 10'000; ++i) {
    const double u = Key(1).with(i).uniform();
    ASSERT_GT(u, 0);
    ASSERT_LT(u, 1);
    sum += u;
    low += u < 0.1;
  }
  EXPECT_NEAR(sum / 10'000, 0.5, 0.01);
  EXPECT_NEAR(low, 1000, 100);
}

TEST(Quantiles, AreStraightBetweenPoints) {
  const Quantiles quantiles({{0.1, -1.0}, {0.5, 0.0}, {0.9, 2.0}});
  EXPECT_DOUBLE_EQ(quantiles.at(0.5), 0);
  EXPECT_DOUBLE_EQ(quantiles.at(0.7), 1);
  EXPECT_NEAR(quantiles.at(1), 2.6, 1e-12);
  EXPECT_DOUBLE_EQ(Quantiles().at(0.3), 0);
}

}  // namespace
}  // namespace teller::simulate
