#include "importers/chakra_order.h"

#include <gtest/gtest.h>

#include <random>

namespace teller {
namespace {

ChakraCall call(std::uint64_t id, std::uint64_t parent, std::int64_t tid = 1) {
  ChakraCall out;
  out.id = id;
  out.parent = parent;
  out.tid = tid;
  return out;
}

const ChakraCall& by_id(const std::vector<ChakraCall>& calls, std::uint64_t id) {
  for (const ChakraCall& one : calls) {
    if (one.id == id) return one;
  }
  static const ChakraCall kNone;
  return kNone;
}

TEST(ChakraOrder, CallsLieInsideTheirParents) {
  std::vector<ChakraCall> calls = {call(5, 3), call(4, 3), call(3, 2), call(9, 2), call(7, 6, 2)};
  set_order(calls);
  EXPECT_EQ(by_id(calls, 3).begin_ns, 0);
  EXPECT_LT(by_id(calls, 4).end_ns, by_id(calls, 5).begin_ns);
  EXPECT_LT(by_id(calls, 5).end_ns, by_id(calls, 3).end_ns);
  EXPECT_LT(by_id(calls, 3).end_ns, by_id(calls, 9).begin_ns);
}

// Every tick is given once, and each call ends behind its begin, whatever ids and parents say.
TEST(ChakraOrder, AnyIdsAndParents) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 50; ++round) {
    std::vector<ChakraCall> calls;
    for (int i = 0; i < 200; ++i) {
      calls.push_back(
          call(random() % 150, random() % 150, static_cast<std::int64_t>(random() % 3)));
    }
    set_order(calls);
    std::vector<bool> seen(400, false);
    for (const ChakraCall& one : calls) {
      ASSERT_LT(one.begin_ns, one.end_ns);
      for (const std::int64_t tick : {one.begin_ns, one.end_ns}) {
        ASSERT_TRUE(tick >= 0 && tick < 400 && !seen[static_cast<std::size_t>(tick)]);
        seen[static_cast<std::size_t>(tick)] = true;
      }
    }
  }
}

TEST(ChakraOrder, UntiedCallsAreWhereTheOneAroundThemIs) {
  std::vector<ChakraCall> calls = {call(3, 2), call(4, 3), call(5, 2)};
  const OperatorTime time{100, 200, 55, 0};
  set_tied_times(calls, {&time, nullptr, nullptr});
  EXPECT_EQ(calls[0].begin_ns, 100);
  EXPECT_EQ(calls[0].tid, 55);
  EXPECT_EQ(calls[1].begin_ns, 100);
  EXPECT_EQ(calls[2].begin_ns, 100);
  EXPECT_FALSE(calls[1].timed);
}

}  // namespace
}  // namespace teller
