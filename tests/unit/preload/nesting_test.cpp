// Nesting of NVTX ranges when pushes are dropped: pops are right at any depth.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "teller/ring.h"

namespace teller::ring {
namespace {

TEST(DomainStack, CountsFarBeyondSixtyFourWithDropsInBetween) {
  DomainStack stack{};
  // 100 written, 50 dropped, 100 written, 70 dropped.
  const std::vector<std::pair<int, bool>> runs = {
      {100, false}, {50, true}, {100, false}, {70, true}};
  for (const auto& [count, dropped] : runs) {
    for (int i = 0; i < count; ++i) stack.push(dropped);
  }
  for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
    for (int i = 0; i < run->first; ++i) {
      bool dropped = !run->second;
      ASSERT_TRUE(stack.pop(&dropped));
      ASSERT_EQ(dropped, run->second) << i;
    }
  }
  bool dropped = false;
  EXPECT_FALSE(stack.pop(&dropped));
}

// Against a stack that remembers every push.
TEST(DomainStack, AgreesWithAStackOfAnyDepth) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    DomainStack stack{};
    std::vector<bool> model;
    const unsigned bias = 1 + random() % 9;  // how much pushes outnumber pops
    for (int step = 0; step < 2000; ++step) {
      if (random() % 10 < bias) {
        const bool drop = stack.must_drop() || random() % 3 == 0;
        stack.push(drop);
        model.push_back(drop);
        continue;
      }
      bool dropped = false;
      ASSERT_EQ(stack.pop(&dropped), !model.empty());
      if (model.empty()) continue;
      ASSERT_EQ(dropped, model.back());
      model.pop_back();
    }
  }
}

TEST(DomainStack, WhenItsRunsAreUsedUpAPushHasToBeDropped) {
  DomainStack stack{};
  bool drop = false;
  for (std::uint32_t run = 0; run < kNestingRuns; ++run, drop = !drop) {
    ASSERT_FALSE(stack.must_drop());
    stack.push(drop);
  }
  EXPECT_TRUE(stack.must_drop());
  bool dropped = false;
  ASSERT_TRUE(stack.pop(&dropped));
  EXPECT_TRUE(dropped);
  EXPECT_FALSE(stack.must_drop());
}

}  // namespace
}  // namespace teller::ring
