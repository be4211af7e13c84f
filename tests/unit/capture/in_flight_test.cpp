#include "capture/in_flight.h"

#include <gtest/gtest.h>

namespace teller::capture {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

Launched launch(std::uint64_t id, std::int64_t begin_ns = 0, std::uint64_t nested = 0) {
  return {begin_ns, id, nested, 1, false, "kernel " + std::to_string(id)};
}

TEST(InFlight, BlamesWhatHasNotEndedByTime) {
  InFlight in_flight;
  in_flight.done(2);
  in_flight.done(40);  // the driver call within 4
  for (const Launched& one : {launch(3, 30), launch(2, 20), launch(1, 10), launch(4, 40, 40)}) {
    in_flight.report(7, one);
  }
  in_flight.report(8, launch(9));  // before another thread's call
  std::vector<std::uint64_t> ids;
  for (const Launched& one : in_flight.blame(7, 100, 700, "call")) ids.push_back(one.correlation);
  EXPECT_EQ(ids, (std::vector<std::uint64_t>{1, 3}));
  EXPECT_TRUE(in_flight.blame(7, 100, 700, "call").empty());
}

TEST(InFlight, AnActivityThatComesLateClearsASuspect) {
  InFlight in_flight;
  in_flight.report(0, launch(1));
  in_flight.report(0, launch(2));
  in_flight.blame(0, 100, 719, "call");
  in_flight.done(1);
  const std::vector<Suspect> suspects = in_flight.suspects();
  ASSERT_EQ(suspects.size(), 1u);
  EXPECT_EQ(suspects[0].launch.correlation, 2u);
  EXPECT_EQ(suspects[0].error, 719);
  EXPECT_EQ(suspects[0].end_ns, 100);
}

TEST(InFlight, ASuspectIsTakenByEitherOfItsIds) {
  InFlight in_flight;
  in_flight.report(0, launch(1, 0, 5));
  in_flight.report(0, launch(2));
  in_flight.blame(0, 100, 719, "call");
  EXPECT_FALSE(in_flight.take_suspect(3).has_value());
  ASSERT_TRUE(in_flight.take_suspect(5).has_value());
  EXPECT_FALSE(in_flight.take_suspect(1).has_value());
  ASSERT_EQ(in_flight.suspects().size(), 1u);
}

TEST(InFlight, OnlyOldLaunchesAreUnfinished) {
  InFlight in_flight;
  in_flight.report(0, launch(4, 0));
  in_flight.blame(0, 100, 700, "call");
  for (const Launched& one :
       {launch(3, 0), launch(1, 0), launch(2, 9 * kSecond + 1), launch(4, 0)}) {
    in_flight.keep_last(one);
  }
  in_flight.done(3);
  const std::vector<Launched> unfinished = in_flight.unfinished(10 * kSecond);
  ASSERT_EQ(unfinished.size(), 1u);
  EXPECT_EQ(unfinished[0].correlation, 1u);
}

// A thread that idles keeps its last launches in view, however much the others do meanwhile.
TEST(InFlight, WhatEndedLongAgoIsNotInFlight) {
  InFlight in_flight;
  for (std::uint64_t id = 1; id <= 1'000'000; ++id) {
    if (id != 17) in_flight.done(id);
  }
  for (const std::uint64_t id : {1, 17, 1'000'000}) in_flight.keep_last(launch(id));
  const std::vector<Launched> unfinished = in_flight.unfinished(10 * kSecond);
  ASSERT_EQ(unfinished.size(), 1u);
  EXPECT_EQ(unfinished[0].correlation, 17u);
  in_flight.report(0, launch(1));
  EXPECT_TRUE(in_flight.blame(0, 100, 700, "call").empty());
}

TEST(DoneIds, OfTheLowestNothingCanBeToldAndNothingIsInFlight) {
  DoneIds ids;
  EXPECT_TRUE(ids.empty());
  for (std::uint64_t block = 1; block <= 40'000; ++block) ids.add(block * 4096);
  EXPECT_LE(ids.bytes(), 16u << 20);
  EXPECT_TRUE(ids.contains(4096));
  EXPECT_TRUE(ids.contains(4097));
  EXPECT_TRUE(ids.contains(40'000ull * 4096));
  EXPECT_FALSE(ids.contains(40'000ull * 4096 - 1));
  ids.add(1);  // comes too late to be kept
  EXPECT_LE(ids.bytes(), 16u << 20);
}

TEST(DoneIds, OfTwoKnowWhatEitherKnew) {
  DoneIds first, second;
  first.add(7);
  second.add(5);
  second.add(1'000'000);
  first.add(second);
  for (const std::uint64_t id : {5, 7, 1'000'000}) EXPECT_TRUE(first.contains(id)) << id;
  EXPECT_FALSE(first.contains(6));
}

}  // namespace
}  // namespace teller::capture
