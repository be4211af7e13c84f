#include "simulate/scheduler.h"

#include <gtest/gtest.h>

namespace teller::simulate {
namespace {

EngineState two_requests(int free_blocks) {
  EngineState state;
  state.step = 1;
  state.pool.total = state.pool.free = free_blocks;
  for (int i = 0; i < 2; ++i) {
    Request one;
    one.prompt = one.prefill_target = 64;
    one.max_tokens = 40;
    one.arrival = i;
    one.stage = Stage::kWaiting;
    state.requests.push_back(one);
    state.waiting.push_back(i);
  }
  return state;
}

TEST(Schedule, ServesTheOldestFirstWithinTheBudget) {
  EngineState state = two_requests(100);
  EngineConfig config;
  config.token_budget = 96;
  const Plan plan = schedule(state, config, Fault(), Key(1));
  ASSERT_EQ(plan.served.size(), 2U);
  EXPECT_EQ(plan.served[0].request, 0);
  EXPECT_EQ(plan.served[0].scheduled, 64);
  EXPECT_EQ(plan.served[1].scheduled, 32);
  EXPECT_EQ(plan.tokens, 96);
  EXPECT_EQ(state.pool.free, 100 - 4 - 2);
}

TEST(Schedule, PreemptsTheYoungestWhenNoBlockIsFree) {
  EngineState state = two_requests(8);
  const EngineConfig config;
  finish_step(state, config, schedule(state, config, Fault(), Key(1)), Fault());
  const Plan plan = schedule(state, config, Fault(), Key(1));  // both need a fifth block
  ASSERT_EQ(plan.preempted.size(), 1U);
  EXPECT_EQ(plan.preempted[0].request, 1);
  EXPECT_EQ(plan.preempted[0].computed, 64);
  EXPECT_EQ(plan.preempted[0].held_blocks, 4);
  ASSERT_EQ(plan.served.size(), 1U);
  EXPECT_EQ(state.requests[1].computed, 0);
  EXPECT_EQ(state.requests[1].prefill_target, 65);
  ASSERT_EQ(plan.waiting.size(), 1U);
}

TEST(Healed, GivesBackBlocksAndLostKv) {
  EngineState state = two_requests(20);
  state.pool.free = 5;
  state.pool.leaked = 11;
  state.requests[1].lost_computed = 64;
  state.requests[1].lost_target = 64;
  const EngineState fork = healed(state);
  EXPECT_EQ(fork.pool.leaked, 0);
  EXPECT_EQ(fork.pool.free, 5 + 11 - 4);
  EXPECT_EQ(fork.requests[1].computed, 64);
  EXPECT_EQ(fork.requests[1].blocks, 4);
  EXPECT_EQ(fork.running, std::vector<int>{1});
  EXPECT_EQ(fork.waiting, std::vector<int>{0});
}

}  // namespace
}  // namespace teller::simulate
