#include <gtest/gtest.h>

#include <random>

#include "horizontal/comparison.h"
#include "ranks.h"

namespace teller::horizontal_detail {
namespace {

// Transfers between neighbours of a line of ranks; one pair takes `slow` times as long.
Comparison line(std::size_t count, double slow, std::int64_t apart_ns) {
  Comparison found;
  found.operations = ranks(count);
  std::mt19937_64 random(3);
  for (int n = 0; n < 20; ++n) {
    for (std::size_t rank = 0; rank < count; ++rank) {
      // All share a collective, so that clocks can be aligned.
      add(found.operations, rank, "all_reduce", n * 100'000'000, n * 100'000'000 + 10'000, 64);
    }
    for (std::size_t rank = 0; rank + 1 < count; ++rank) {
      const double takes = 2e6 * (rank == 1 ? slow : 1) + static_cast<double>(random() % 100'000);
      const auto begin =
          n * 100'000'000 + 20'000'000 + static_cast<std::int64_t>(rank) * 10'000'000;
      const std::int64_t end = begin + apart_ns + std::llround(takes);
      Operation& send = add(found.operations, rank, "send", begin, end, 1 << 20);
      send.sequence = 2 * n + 1 + static_cast<std::int64_t>(rank) * 1000;
      send.from = static_cast<int>(rank);
      send.to = send.from + 1;
      const Operation sent = send;
      Operation& received = add(found.operations, rank + 1, "send", begin + apart_ns, end, 1 << 20);
      received.sequence = sent.sequence;
      received.from = sent.from;
      received.to = sent.to;
    }
  }
  for (RankOperations& rank : found.operations.ranks) {
    std::sort(rank.list.begin(), rank.list.end(),
              [](const Operation& a, const Operation& b) { return a.begin_ns < b.begin_ns; });
  }
  found.matching = match(found.operations);
  found.clocks = align_clocks(found.operations, found.matching);
  found.measures = measure(found.operations, found.matching, found.clocks);
  return found;
}

TEST(Links, TheSlowPairIsNamed) {
  const auto link = slow_link(line(6, 3, 50'000));
  ASSERT_TRUE(link.has_value());
  EXPECT_EQ(link->from, 1);
  EXPECT_EQ(link->to, 2);
  EXPECT_NE(link->why.find("ms"), std::string::npos);
}

TEST(Links, NoneWhereAllAreAlike) {
  EXPECT_FALSE(slow_link(line(6, 1, 50'000)).has_value());
  EXPECT_FALSE(slow_link(line(6, 1, 30'000'000)).has_value());  // late, but not slow
  EXPECT_FALSE(slow_link(line(3, 3, 50'000)).has_value());      // two pairs: which is slow?
}

TEST(Measure, WaitsAndTransfers) {
  Operations ops = ranks(3);
  for (int n = 0; n < 4; ++n) {
    const std::int64_t t = n * 1'000'000;
    add(ops, 0, "all_reduce", t, t + 500'000, 1000);
    add(ops, 1, "all_reduce", t + 400'000, t + 500'000, 1000);
    add(ops, 2, "all_reduce", t + 100'000, t + 500'000, 1000);
  }
  const Matching matching = match(ops);
  const auto measures = measure(ops, matching, align_clocks(ops, matching));
  ASSERT_EQ(measures.size(), 4u);
  EXPECT_EQ(measures[0].last, 1u);
  EXPECT_DOUBLE_EQ(measures[0].spread_ns, 400'000);
  EXPECT_DOUBLE_EQ(measures[0].transfer_ns, 100'000);
  EXPECT_DOUBLE_EQ(measures[0].arrivals[0].wait_ns, 400'000);
  EXPECT_DOUBLE_EQ(measures[0].arrivals[1].wait_ns, 0);
  // 1000 bytes · 2 · 2/3 in 100 us
  EXPECT_NEAR(measures[0].bus_bytes_per_s, 1000 * 4.0 / 3 / 100e-6, 1);
}

}  // namespace
}  // namespace teller::horizontal_detail
