#include "horizontal/clocks.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "ranks.h"

namespace teller::horizontal_detail {
namespace {

// All-reduces of ranks whose clocks are off by `offset` and run off by `drift`; ends scatter.
Operations job(const std::vector<double>& offset, const std::vector<double>& drift, int count,
               double step_ns, double scatter_ns, double outliers = 0) {
  Operations ops = ranks(offset.size());
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (int n = 0; n < count; ++n) {
    const double end = 1e9 + n * step_ns;
    for (std::size_t rank = 0; rank < offset.size(); ++rank) {
      double late = scatter_ns * uniform(random);
      if (uniform(random) < outliers) late += 50e6;
      const double time = (end + late) * (1 + drift[rank]) + offset[rank];
      add(ops, rank, "all_reduce", std::llround(time - 1e6 * uniform(random)), std::llround(time));
    }
  }
  return ops;
}

TEST(Clocks, OffsetsOfMinutes) {
  const Operations ops = job({0, 120e9, -3e6, 40e3}, {0, 0, 0, 0}, 50, 20e6, 10e3);
  const Clocks clocks = align_clocks(ops, match(ops));
  EXPECT_TRUE(clocks.ranks[0].reference);
  EXPECT_NEAR(clocks.ranks[1].offset_ns, 120e9, 5e3);
  EXPECT_NEAR(clocks.ranks[2].offset_ns, -3e6, 5e3);
  EXPECT_NEAR(clocks.ranks[3].offset_ns, 40e3, 5e3);
  EXPECT_LT(clocks.residual_ns, 10e3);
  EXPECT_NEAR(clocks.aligned(1, ops.ranks[1].list[9].end_ns),
              clocks.aligned(0, ops.ranks[0].list[9].end_ns), 20e3);
}

TEST(Clocks, Drift) {
  const Operations ops = job({0, 5e6, 0}, {0, 20e-6, -50e-6}, 400, 50e6, 20e3);
  const Clocks clocks = align_clocks(ops, match(ops));
  EXPECT_TRUE(clocks.ranks[1].drift_known);
  EXPECT_NEAR(clocks.ranks[1].drift, 20e-6, 2e-6);
  EXPECT_NEAR(clocks.ranks[2].drift, -50e-6, 2e-6);
  for (const std::size_t n : {std::size_t{0}, std::size_t{399}}) {
    EXPECT_NEAR(clocks.aligned(2, ops.ranks[2].list[n].end_ns),
                clocks.aligned(0, ops.ranks[0].list[n].end_ns), 60e3);
  }
}

TEST(Clocks, FarEndsDoNotMoveThem) {
  const Operations ops = job({0, 7e6, -7e6, 0}, {0, 0, 0, 0}, 100, 20e6, 10e3, 0.1);
  const Clocks clocks = align_clocks(ops, match(ops));
  EXPECT_NEAR(clocks.ranks[1].offset_ns, 7e6, 20e3);
  EXPECT_NEAR(clocks.ranks[2].offset_ns, -7e6, 20e3);
}

// What ends scatter by is no offset.
TEST(Clocks, SmallOffsetsAreNotApplied) {
  const Operations ops = job({0, 100e3}, {0, 0}, 40, 20e6, 2e6);
  const Clocks clocks = align_clocks(ops, match(ops));
  EXPECT_TRUE(clocks.ranks[1].aligned);
  EXPECT_FALSE(clocks.ranks[1].applied);
}

TEST(Clocks, WhoCannotBeAlignedIsSaid) {
  Operations ops = job({0, 0}, {0, 0}, 2, 20e6, 10e3);
  Clocks clocks = align_clocks(ops, match(ops));
  EXPECT_FALSE(clocks.ranks[0].aligned);
  EXPECT_NE(clocks.ranks[0].why.find("3 are needed"), std::string::npos);

  ops = job({0, 0, 0}, {0, 0, 0}, 9, 20e6, 10e3);
  ops.ranks[2].list.clear();
  clocks = align_clocks(ops, match(ops));
  EXPECT_TRUE(clocks.ranks[1].aligned);
  EXPECT_FALSE(clocks.ranks[2].aligned);
  EXPECT_TRUE(align_clocks(ranks(3), match(ranks(3))).ranks[0].why.size() > 0);
}

// Two pairs that share nothing: each has a base of its own.
TEST(Clocks, SeparateGroups) {
  Operations ops = job({0, 2e6, 5e15, 5e15 + 3e6}, {0, 0, 0, 0}, 9, 20e6, 10e3);
  const std::uint32_t first = ops.texts.intern("a"), second = ops.texts.intern("b");
  ops.group_ranks.resize(std::max(first, second) + 1);
  for (std::size_t rank = 0; rank < 4; ++rank) {
    for (Operation& one : ops.ranks[rank].list) one.group = rank < 2 ? first : second;
  }
  const Clocks clocks = align_clocks(ops, match(ops));
  EXPECT_EQ(clocks.ranks[1].base, 0u);
  EXPECT_NEAR(clocks.ranks[1].offset_ns, 2e6, 10e3);
  EXPECT_TRUE(clocks.ranks[2].reference);
  EXPECT_EQ(clocks.ranks[3].base, 2u);
  EXPECT_NEAR(clocks.ranks[3].offset_ns, 3e6, 10e3);
}

// Days apart, and with a drift that no clock should have: lines are composed, whichever rank is the
// base, and a time of any rank comes out on the base's clock.
TEST(Clocks, DaysApartWithLargeDrift) {
  constexpr double kDay = 86400e9;
  const std::vector<double> offset = {3 * kDay, -5 * kDay, 0, kDay};
  const std::vector<double> drift = {400e-6, -300e-6, 150e-6, 0};
  const Operations ops = job(offset, drift, 400, 50e6, 20e3);
  const Clocks clocks = align_clocks(ops, match(ops));
  for (std::size_t rank = 0; rank < offset.size(); ++rank) {
    ASSERT_TRUE(clocks.ranks[rank].aligned);
    EXPECT_NEAR(clocks.ranks[rank].drift, 1 - (1 + drift[0]) / (1 + drift[rank]), 3e-6);
    for (const std::size_t n : {std::size_t{0}, std::size_t{200}, std::size_t{399}}) {
      const double mine =
          clocks.aligned(static_cast<std::uint32_t>(rank), ops.ranks[rank].list[n].end_ns);
      const double base = static_cast<double>(ops.ranks[0].list[n].end_ns - clocks.origin_ns);
      EXPECT_NEAR(mine, base, 60e3);
    }
  }
  EXPECT_NEAR(clocks.ranks[2].offset_ns, -3 * kDay, 1e9);
}

TEST(Clocks, Hostile) {
  Operations ops = ranks(2);
  for (int n = 0; n < 50; ++n) {
    add(ops, 0, "all_reduce", -kTimeLimitNs, -kTimeLimitNs);
    add(ops, 1, "all_reduce", kTimeLimitNs, kTimeLimitNs);
  }
  const Clocks clocks = align_clocks(ops, match(ops));
  EXPECT_TRUE(std::isfinite(clocks.aligned(1, kTimeLimitNs)));
}

}  // namespace
}  // namespace teller::horizontal_detail
