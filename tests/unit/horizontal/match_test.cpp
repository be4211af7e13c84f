#include "horizontal/match.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <limits>
#include <random>
#include <vector>

#include "horizontal/match_shift.h"
#include "ranks.h"

namespace teller::horizontal_detail {
namespace {

std::size_t whole(const Matching& found, std::size_t ranks) {
  return static_cast<std::size_t>(
      std::count_if(found.collectives.begin(), found.collectives.end(),
                    [ranks](const Collective& one) { return one.members.size() == ranks; }));
}

TEST(Match, BySequence) {
  Operations ops = ranks(3);
  for (int n = 0; n < 10; ++n) {
    for (std::size_t rank = 0; rank < 3; ++rank) {
      if (rank == 1 && n == 4) continue;  // it leaves one out
      add(ops, rank, "all_reduce", n * 1000, n * 1000 + 500).sequence = 100 + n;
    }
  }
  const Matching found = match(ops);
  ASSERT_EQ(found.collectives.size(), 10u);
  EXPECT_EQ(whole(found, 3), 9u);
  EXPECT_EQ(found.collectives[4].absent, std::vector<std::uint32_t>{1});
  EXPECT_TRUE(found.collectives[4].by_sequence);
}

TEST(Match, DifferentCallsUnderOneNumber) {
  Operations ops = ranks(3);
  for (int n = 0; n < 4; ++n) {
    for (std::size_t rank = 0; rank < 3; ++rank) {
      const bool odd = rank == 2 && n == 3;
      add(ops, rank, odd ? "broadcast" : "all_reduce", n * 1000, n * 1000 + 500).sequence = n;
    }
  }
  const Matching found = match(ops);
  ASSERT_EQ(found.collectives.size(), 4u);
  EXPECT_FALSE(found.collectives[2].mismatched);
  EXPECT_TRUE(found.collectives[3].mismatched);
}

// A number that is the same for all tells nothing apart: order does.
TEST(Match, ByOrderWhereNumbersSayNothing) {
  Operations ops = ranks(2);
  for (int n = 0; n < 6; ++n) {
    for (std::size_t rank = 0; rank < 2; ++rank) {
      add(ops, rank, "all_reduce", n * 1000, n * 1000 + 500).sequence = 0;
    }
  }
  const Matching found = match(ops);
  EXPECT_EQ(found.collectives.size(), 6u);
  EXPECT_EQ(whole(found, 2), 6u);
  EXPECT_FALSE(found.collectives[0].by_sequence);
}

// A rank whose recording begins two collectives later, on a clock of its own.
TEST(Match, WindowsThatBeginAtDifferentTimes) {
  Operations ops = ranks(2);
  std::int64_t t = 0;
  for (int n = 0; n < 20; ++n) {
    t += 1'000'000 + 37'000 * (n % 5) + 211'000 * (n % 3);
    add(ops, 0, "all_reduce", t, t + 5000);
    if (n >= 2) add(ops, 1, "all_reduce", t + 90'000'000, t + 90'005'000);
  }
  const Matching found = match(ops);
  EXPECT_EQ(whole(found, 2), 18u);
  EXPECT_EQ(found.collectives[0].members.size(), 1u);
  EXPECT_EQ(found.collectives[2].members[1].at, 0u);
}

// `steps` steps of three calls with sizes that `size_of` gives; rank 1 records from `from` on, on a
// clock that is `ahead`. Steps differ in length by `jitter`; ends scatter by 20 us.
struct Windows {
  int steps = 120, from = 0;
  std::int64_t ahead = 0, jitter = 0;
  bool varied = false;  // sizes differ from step to step
};

Operations run(const Windows& job) {
  Operations ops = ranks(2);
  std::mt19937_64 random(11);
  std::int64_t t = 1'000'000'000;
  for (int n = 0; n < job.steps; ++n) {
    t += job.jitter > 0 ? static_cast<std::int64_t>(random() % static_cast<unsigned>(job.jitter))
                        : 0;
    const std::int64_t bytes = job.varied ? 1000 + static_cast<std::int64_t>(random() % 50) : 1000;
    for (const char* name : {"all_gather", "reduce_scatter", "all_reduce"}) {
      t += 30'000'000;
      for (std::size_t rank = 0; rank < 2; ++rank) {
        const std::int64_t end = t + static_cast<std::int64_t>(random() % 20'000);
        if (rank == 1 && n < job.from) continue;
        const std::int64_t clock = rank == 1 ? job.ahead : 0;
        add(ops, rank, name, end + clock - 2'000'000, end + clock, bytes).wire =
            ops.texts.intern(name);
      }
    }
  }
  return ops;
}

void expect_shift(const Windows& job, const char* what) {
  const Operations ops = run(job);
  const Matching found = match(ops);
  EXPECT_EQ(whole(found, 2), static_cast<std::size_t>(3 * (job.steps - job.from))) << what;
  for (const Collective& one : found.collectives) {
    if (one.members.size() != 2) continue;
    EXPECT_EQ(one.members[0].at, one.members[1].at + static_cast<std::uint32_t>(3 * job.from))
        << what;
  }
  EXPECT_EQ(found.ambiguous, 0u) << what;
}

TEST(Match, WindowsThatBeginFarApart) {
  for (const int from : {6, 17, 40, 100}) {
    for (const std::int64_t ahead : {0ll, 86'400'000'000'000ll, -7'000'000ll}) {
      expect_shift({120, from, ahead, 5'000'000, false}, "steps that differ in length");
      expect_shift({120, from, ahead, 5'000'000, true}, "sizes and steps that differ");
    }
    // Steps as even as a clock: the clocks tell, if they agree but for a part of a step.
    expect_shift({120, from, 0, 0, false}, "even steps on one clock");
    expect_shift({120, from, 9'000'000, 0, false}, "even steps on clocks that are close");
    // … or the sizes.
    expect_shift({120, from, 86'400'000'000'000, 0, true}, "even steps of differing sizes");
  }
}

TEST(Match, WhatRepeatsWithoutADifferenceIsAmbiguous) {
  const Operations ops = run({120, 40, 86'400'000'000'000, 0, false});
  const Matching found = match(ops);
  EXPECT_EQ(found.ambiguous, 1u);
  EXPECT_EQ(found.by_clocks, 0u);
  EXPECT_EQ(match(run({120, 40, 0, 0, false})).by_clocks, 1u);
}

// Operations that overlap: the longest of all ends last, though it began in the middle.
TEST(Match, ClocksPlaceWhatOverlaps) {
  Sequence reference, sequence;
  for (int n = 0; n < 400; ++n) reference.ends.push_back(n * 1'000'000);
  sequence.ends.assign(reference.ends.begin() + 150, reference.ends.begin() + 350);
  reference.ends[200] = 900'000'000;
  sequence.ends[50] = 900'000'000;
  reference.calls.assign(reference.ends.size(), 1);
  sequence.calls.assign(sequence.ends.size(), 1);
  const Shift found = find_shift(reference, sequence, true);
  EXPECT_EQ(found.by, 150);
}

// `count` calls at uneven times, from call `from` on.
Sequence uneven(int count, int from) {
  Sequence made;
  std::mt19937_64 random(3);
  std::int64_t t = 0;
  for (int n = 0; n < from + count; ++n) {
    t += 1'000'000 + static_cast<std::int64_t>(random() % 1'000'000);
    if (n < from) continue;
    made.ends.push_back(t);
    made.calls.push_back(static_cast<std::uint64_t>(n % 3));
  }
  return made;
}

std::clock_t cost_of(const Sequence& reference, const Sequence& sequence, std::ptrdiff_t by) {
  const std::clock_t begin = std::clock();
  EXPECT_EQ(find_shift(reference, sequence, false).by, by);
  return std::clock() - begin;
}

// Most ranks record the same: what fits is not looked for anywhere else.
TEST(Match, SequencesThatFitAreCheap) {
  const Sequence whole = uneven(30'000, 0);
  const std::clock_t same = cost_of(whole, whole, 0);
  EXPECT_LT(4 * same, cost_of(whole, uneven(29'999, 1), 1));
}

// … and what does not is, though both are equally long.
TEST(Match, EquallyLongWindowsThatBeginFarApart) {
  EXPECT_EQ(find_shift(uneven(400, 0), uneven(400, 60), false).by, 60);
}

// A call that is rare is placed by the others of its group.
TEST(Match, ARareCallIsPlacedByTheOthers) {
  Operations ops = run({60, 30, 5'000'000'000, 5'000'000, false});
  for (const int step : {10, 40}) {
    for (std::size_t rank = 0; rank < 2; ++rank) {
      if (rank == 1 && step < 30) continue;
      auto& list = ops.ranks[rank].list;
      const auto at = static_cast<std::ptrdiff_t>(rank == 1 ? 30 : step == 10 ? 30 : 121);
      Operation one = list[static_cast<std::size_t>(at)];
      one.operation = one.wire = ops.texts.intern("barrier");
      one.bytes = -1;
      one.begin_ns -= 10'000'000;
      one.end_ns -= 9'000'000;
      list.insert(list.begin() + at, one);
    }
  }
  std::size_t together = 0;
  for (const Collective& one : match(ops).collectives) {
    const Operation& first = ops.ranks[one.members[0].rank].list[one.members[0].at];
    if (ops.texts.view(first.operation) == "barrier" && one.members.size() == 2) {
      ++together;
      EXPECT_EQ(one.members[0].at, 121u);
      EXPECT_EQ(one.members[1].at, 30u);
    }
  }
  EXPECT_EQ(together, 1u);
}

TEST(Match, KindsAndSizesAreCountedApart) {
  Operations ops = ranks(2);
  for (std::size_t rank = 0; rank < 2; ++rank) {
    for (int n = 0; n < 5; ++n) {
      add(ops, rank, "all_gather", n * 1000, n * 1000 + 10, 64);
      if (rank == 0 || n != 2) add(ops, rank, "reduce_scatter", n * 1000 + 500, n * 1000 + 510, 32);
    }
  }
  EXPECT_EQ(whole(match(ops), 2), 9u);  // what is missing on one kind moves no other
}

// A rank that repeats one number a thousand times, one without anything, times at the limits.
TEST(Match, Hostile) {
  Operations ops = ranks(3);
  for (int n = 0; n < 1000; ++n) {
    add(ops, 0, "all_reduce", 5, 5).sequence = 7;
    add(ops, 1, "all_reduce", -kTimeLimitNs, kTimeLimitNs).sequence = n;
  }
  const Matching found = match(ops);
  std::size_t members = 0;
  for (const Collective& one : found.collectives) members += one.members.size();
  EXPECT_EQ(members, 2000u);  // every operation is in exactly one
  EXPECT_TRUE(match(ranks(0)).collectives.empty());
  EXPECT_TRUE(match(ranks(4)).collectives.empty());
}

// One rank records from before a restart of the job on, the other from after it: number 3 of both
// is not one collective.
TEST(Match, NumbersThatBeginAnew) {
  Operations ops = ranks(2);
  for (int n = 0; n < 40; ++n) {
    for (std::size_t rank = 0; rank < 2; ++rank) {
      if (rank == 1 && n < 20) continue;
      const std::int64_t begin = n * 1'000'000 + static_cast<std::int64_t>(rank);
      add(ops, rank, "all_reduce", begin, begin + 1000).sequence = n % 20;
    }
  }
  const Matching found = match(ops);
  EXPECT_EQ(found.restarts, 1u);
  EXPECT_EQ(found.mixed_groups, 1u);
  for (const Collective& one : found.collectives) {
    if (one.members.size() < 2) continue;
    EXPECT_NEAR(static_cast<double>(ops.ranks[0].list[one.members[0].at].end_ns),
                static_cast<double>(ops.ranks[1].list[one.members[1].at].end_ns), 1e9);
  }
}

TEST(Match, ARankWithoutNumbersIsMatchedByOrder) {
  Operations ops = ranks(3);
  for (int n = 0; n < 30; ++n) {
    for (std::size_t rank = 0; rank < 3; ++rank) {
      Operation& one = add(ops, rank, "all_reduce", n * 1'000'000, n * 1'000'000 + 1000);
      if (rank != 1) one.sequence = n;
    }
  }
  const Matching found = match(ops);
  EXPECT_EQ(found.mixed_groups, 1u);
  EXPECT_EQ(found.collectives.size(), 30u);
}

TEST(Match, SizesCountWhereTheyAreSure) {
  Operations ops = ranks(2);
  add(ops, 0, "all_gather", 0, 10, 4096).sequence = 1;
  add(ops, 1, "all_gather", 0, 10, 1024).sequence = 1;
  EXPECT_FALSE(match(ops).collectives[0].mismatched);
  for (RankOperations& rank : ops.ranks) rank.list[0].size_is_sure = true;
  EXPECT_TRUE(match(ops).collectives[0].mismatched);
  for (RankOperations& rank : ops.ranks) rank.list[0].operation = ops.texts.intern("all_to_all");
  EXPECT_FALSE(match(ops).collectives[0].mismatched);
}

// Stages of a pipeline: each rank counts its sends and receives, whoever they are with. Number 1 of
// rank 0 is a send to rank 1, number 1 of rank 2 a receive from it.
TEST(Match, TransfersOfAPairMeetInOrderWhateverTheirNumbers) {
  Operations ops = ranks(4);
  std::vector<std::int64_t> next(4, 1);
  std::int64_t t = 0;
  for (int n = 0; n < 6; ++n) {
    for (std::size_t rank = 0; rank + 1 < 4; ++rank, t += 1'000'000 + 70'000 * n) {
      for (const bool sends : {true, false}) {
        const std::size_t self = sends ? rank : rank + 1;
        Operation& one = add(ops, self, sends ? "send" : "recv", t, t + 5000 + (sends ? 0 : 100));
        one.sequence = next[self]++;
        one.from = static_cast<int>(rank);
        one.to = one.from + 1;
      }
    }
  }
  const Matching found = match(ops);
  ASSERT_EQ(found.collectives.size(), 18u);
  for (const Collective& one : found.collectives) {
    ASSERT_EQ(one.members.size(), 2u);
    EXPECT_EQ(one.members[0].rank + 1, one.members[1].rank);
    EXPECT_EQ(ops.ranks[one.members[0].rank].list[one.members[0].at].begin_ns,
              ops.ranks[one.members[1].rank].list[one.members[1].at].begin_ns);
    EXPECT_FALSE(one.mismatched);
    EXPECT_TRUE(one.absent.empty());
  }
}

// Whom it was sent to is not known: it is no collective that the others miss or call differently.
TEST(Match, TransfersToNobodyKnownStayAlone) {
  Operations ops = ranks(3);
  for (int n = 0; n < 5; ++n) {
    for (std::size_t rank = 0; rank < 3; ++rank) {
      add(ops, rank, rank == 0 ? "send" : "recv", n * 1000, n * 1000 + 500).sequence = n;
      add(ops, rank, "all_reduce", n * 1000 + 600, n * 1000 + 700).sequence = n;
    }
  }
  const Matching found = match(ops);
  EXPECT_EQ(whole(found, 3), 5u);
  EXPECT_EQ(whole(found, 1), 15u);
  for (const Collective& one : found.collectives) {
    EXPECT_TRUE(one.absent.empty());
    EXPECT_FALSE(one.mismatched);
  }
}

// Each rank of an all-to-all has a size of its own, in each step another (experts and their
// tokens).
TEST(Match, AllToAllIsMatchedWhateverItsSizes) {
  Operations ops = ranks(4);
  for (int n = 0; n < 12; ++n) {
    for (std::size_t rank = 0; rank < 4; ++rank) {
      add(ops, rank, "all_to_all", n * 1'000'000, n * 1'000'000 + 1000,
          4096 + 64 * n + static_cast<std::int64_t>(rank));
    }
  }
  const Matching found = match(ops);
  EXPECT_EQ(found.collectives.size(), 12u);
  EXPECT_EQ(whole(found, 4), 12u);
}

// A hundred thousand groups of which no trace says the ranks: who belongs to one is looked up once.
TEST(Match, ManyGroups) {
  Operations ops = ranks(3);
  constexpr std::uint32_t kGroups = 100'000;
  ops.group_ranks.resize(kGroups);
  for (std::uint32_t group = 0; group < kGroups; ++group) {
    for (std::size_t rank = 0; rank < 3; ++rank) {
      if (rank == 2 && group % 2 == 0) continue;
      for (int n = 0; n < 2; ++n) {
        if (rank == 1 && n == 1) continue;  // it leaves out the second one
        Operation& one = add(ops, rank, "all_reduce", group * 100 + n, group * 100 + n + 50);
        one.group = group;
        one.sequence = n;
      }
    }
  }
  const auto begin = std::chrono::steady_clock::now();
  const Matching found = match(ops);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
  ASSERT_EQ(found.collectives.size(), 2 * kGroups);
  std::size_t absent = 0;
  for (const Collective& one : found.collectives) absent += one.absent.size();
  EXPECT_EQ(absent, kGroups);
}

// Numbers that begin anew in each of many groups.
TEST(Match, ManyGroupsThatBeginAnew) {
  Operations ops = ranks(1);
  constexpr std::uint32_t kGroups = 50'000;
  ops.group_ranks.resize(kGroups);
  for (std::uint32_t group = 0; group < kGroups; ++group) {
    for (int n = 0; n < 10; ++n) {
      Operation& one = add(ops, 0, "all_reduce", group * 100 + n, group * 100 + n + 1);
      one.group = group;
      one.sequence = n < 9 ? n + 1 : 0;  // the last one's time is wrong
    }
  }
  const auto begin = std::chrono::steady_clock::now();
  const Matching found = match(ops);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
  EXPECT_EQ(found.restarts, 0u);
  EXPECT_EQ(found.collectives.size(), 10 * kGroups);
}

}  // namespace
}  // namespace teller::horizontal_detail
