#include "horizontal/clocks.h"

#include <gtest/gtest.h>

#include <algorithm>
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

// A clock that is off by all times there are, and then by none: what it is roughly off by, taken
// from a time, fits (undefined behaviour shows with the sanitizers).
TEST(Clocks, HostileInTurn) {
  Operations ops = ranks(2);
  for (int n = 0; n < 9; ++n) {
    const std::int64_t end = n < 8 ? -kTimeLimitNs : kTimeLimitNs;
    add(ops, 0, "all_reduce", -kTimeLimitNs, kTimeLimitNs).sequence = n;
    add(ops, 1, "all_reduce", -kTimeLimitNs, end).sequence = n;
  }
  const Clocks clocks = align_clocks(ops, match(ops));
  EXPECT_TRUE(std::isfinite(clocks.ranks[1].offset_ns));
  EXPECT_LT(clocks.ranks[1].offset_ns, 0);
}

// A pipeline: each micro batch goes from stage to stage, and back where `back`; what is sent takes
// 50 us after the later of both has come.
struct Pipeline {
  std::vector<double> offset, drift;
  bool back = true;
  bool eager = false;            // sends end at once
  std::vector<std::size_t> cut;  // no transfers from this stage to the next
};

void transfer(Operations& ops, const Pipeline& job, std::size_t from, std::size_t to, double sent,
              double received, std::mt19937_64& random) {
  std::uniform_real_distribution<double> uniform(0, 1);
  const double end = std::max(sent, received) + 50e3 + 10e3 * uniform(random);
  const double send_end = job.eager ? sent + 10e3 : end + 5e3 * uniform(random);
  const auto clock = [&](std::size_t rank, double time) {
    return std::llround(time * (1 + job.drift[rank]) + job.offset[rank]);
  };
  Operation& send = add(ops, from, "send", clock(from, sent), clock(from, send_end));
  send.from = static_cast<std::int32_t>(from);
  send.to = static_cast<std::int32_t>(to);
  Operation& receive = add(ops, to, "recv", clock(to, received), clock(to, end));
  receive.from = static_cast<std::int32_t>(from);
  receive.to = static_cast<std::int32_t>(to);
}

Operations run(const Pipeline& job, int count, double step_ns) {
  Operations ops = ranks(job.offset.size());
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (int n = 0; n < count; ++n) {
    const double begin = 1e9 + n * step_ns;
    for (std::size_t stage = 0; stage + 1 < job.offset.size(); ++stage) {
      if (std::count(job.cut.begin(), job.cut.end(), stage) > 0) continue;
      const double sent = begin + 3e6 * static_cast<double>(stage) + 1e6 * uniform(random);
      transfer(ops, job, stage, stage + 1, sent, sent + 2e6 * (uniform(random) - 0.7), random);
      if (!job.back) continue;
      const double returned = sent + step_ns / 2;
      transfer(ops, job, stage + 1, stage, returned, returned + 2e6 * (uniform(random) - 0.7),
               random);
    }
  }
  for (RankOperations& rank : ops.ranks) {
    std::sort(rank.list.begin(), rank.list.end(),
              [](const Operation& a, const Operation& b) { return a.begin_ns < b.begin_ns; });
  }
  return ops;
}

void expect_offsets(const Clocks& clocks, const std::vector<double>& offset, double within) {
  for (std::size_t rank = 0; rank < offset.size(); ++rank) {
    EXPECT_TRUE(clocks.ranks[rank].aligned) << clocks.ranks[rank].why;
    EXPECT_EQ(clocks.ranks[rank].base, 0u);
    EXPECT_NEAR(clocks.ranks[rank].offset_ns, offset[rank] - offset[0], within) << rank;
  }
  EXPECT_GT(clocks.ranks.back().transfers, 0u);
  EXPECT_GT(clocks.ranks.back().residual_ns, 0);
}

TEST(ClocksOfPairs, APipelineWithoutCollectives) {
  for (const bool back : {true, false}) {
    const Pipeline job{{0, 7e6, -3600e9, 40e3, 5e9}, {0, 0, 0, 0, 0}, back, false, {}};
    const Operations ops = run(job, 60, 20e6);
    const Clocks clocks = align_clocks(ops, match(ops));
    expect_offsets(clocks, job.offset, 40e3);
    EXPECT_TRUE(clocks.ranks[0].reference);
    EXPECT_LT(clocks.residual_ns, 50e3);
    EXPECT_GT(clocks.ranks[4].uncertainty_ns, clocks.ranks[1].uncertainty_ns);
  }
}

TEST(ClocksOfPairs, SendsThatDoNotWait) {
  // A receiver that comes late ends late: only both directions and the prompt ones tell.
  const Pipeline job{{0, 7e6, -30e6}, {0, 0, 0}, true, true, {}};
  const Operations ops = run(job, 200, 20e6);
  expect_offsets(align_clocks(ops, match(ops)), job.offset, 100e3);
}

TEST(ClocksOfPairs, DriftAlongAChain) {
  const Pipeline job{{0, 5e6, -8e6, 86400e9}, {0, 20e-6, -50e-6, 30e-6}, true, false, {}};
  const Operations ops = run(job, 400, 50e6);
  const Clocks clocks = align_clocks(ops, match(ops));
  EXPECT_TRUE(clocks.ranks[3].drift_known);
  for (const std::size_t rank : {std::size_t{1}, std::size_t{2}, std::size_t{3}}) {
    const double drift = (1 + job.drift[rank]) / (1 + job.drift[0]) - 1;
    EXPECT_NEAR(clocks.ranks[rank].drift, drift, 3e-6) << rank;
  }
  // A stage's first receive ends when the send of the stage before it does.
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    std::size_t far = 0;
    for (const Operation& send : ops.ranks[rank].list) {
      if (send.to != static_cast<std::int32_t>(rank) + 1) continue;
      double closest = 1e18;
      for (const Operation& other : ops.ranks[rank + 1].list) {
        const double apart =
            clocks.aligned(rank + 1, other.end_ns) - clocks.aligned(rank, send.end_ns);
        closest = std::min(closest, std::abs(apart));
      }
      far += closest > 100e3 ? 1 : 0;
    }
    EXPECT_EQ(far, 0u) << rank;
  }
}

TEST(ClocksOfPairs, StagesOfSeveralRanksAreTied) {
  // Two stages of two ranks each: all-reduces within, one pair's transfers between.
  Operations ops = ranks(4);
  const std::uint32_t stages[] = {ops.texts.intern("stage 0"), ops.texts.intern("stage 1")};
  ops.group_ranks.resize(8);
  const double offset[] = {0, 3e6, 500e6, 900e6};
  std::mt19937_64 random(3);
  const Pipeline job{{0, 3e6, 500e6, 900e6}, {0, 0, 0, 0}, true, false, {}};
  for (int n = 0; n < 40; ++n) {
    for (std::size_t rank = 0; rank < 4; ++rank) {
      const double end = 1e9 + n * 20e6 + static_cast<double>(rank / 2) * 5e6 + offset[rank];
      add(ops, rank, "all_reduce", std::llround(end - 1e6), std::llround(end)).group =
          stages[rank / 2];
    }
    transfer(ops, job, 1, 2, 1e9 + n * 20e6 + 7e6, 1e9 + n * 20e6 + 7.5e6, random);
  }
  expect_offsets(align_clocks(ops, match(ops)), {0, 3e6, 500e6, 900e6}, 30e3);
}

TEST(ClocksOfPairs, WhatIsNotConnectedIsSaid) {
  const Pipeline job{{0, 7e6, 1e9, 2e9}, {0, 0, 0, 0}, true, false, {1}};
  const Operations ops = run(job, 40, 20e6);
  const Clocks clocks = align_clocks(ops, match(ops));
  EXPECT_EQ(clocks.ranks[1].base, 0u);
  EXPECT_EQ(clocks.ranks[3].base, 2u);
  EXPECT_TRUE(clocks.ranks[2].reference);
  EXPECT_NEAR(clocks.ranks[3].offset_ns, 1e9, 40e3);
  // The residual is that of both trees.
  EXPECT_NE(clocks.ranks[1].residual_ns, clocks.ranks[3].residual_ns);
  EXPECT_DOUBLE_EQ(clocks.residual_ns,
                   (clocks.ranks[1].residual_ns + clocks.ranks[3].residual_ns) / 2);
  // Too few tell nothing.
  const Operations few = run(job, 2, 20e6);
  const Clocks none = align_clocks(few, match(few));
  EXPECT_TRUE(none.ranks[1].aligned);  // two forth and two back are four
  Pipeline forth = job;
  forth.back = false;
  const Operations fewer = run(forth, 2, 20e6);
  EXPECT_FALSE(align_clocks(fewer, match(fewer)).ranks[1].aligned);
  EXPECT_NE(align_clocks(fewer, match(fewer)).ranks[1].why.find("sends and receives"),
            std::string::npos);
}

}  // namespace
}  // namespace teller::horizontal_detail
