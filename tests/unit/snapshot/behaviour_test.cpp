#include "snapshot/behaviour.h"

#include <gtest/gtest.h>

namespace teller::snapshot_detail {
namespace {

constexpr std::int64_t kInterval = 300'000'000;

// Three samples, `cpu_ns` and `switches` more at each; all in one function at line 1.
Thread thread_of(char state, std::uint64_t cpu_ns, std::uint64_t switches) {
  Thread thread;
  for (std::uint64_t i = 0; i < 3; ++i) {
    ThreadSample sample;
    sample.at_ns = static_cast<std::int64_t>(i) * kInterval;
    sample.state = state;
    sample.cpu_ns = i * cpu_ns;
    sample.switches = i * switches;
    sample.stack = {{true, "wait", "a.py", 1}};
    thread.samples.push_back(sample);
  }
  return thread;
}

TEST(Behaviour, StuckIsSamePlaceWithoutProcessorOrWaking) {
  EXPECT_EQ(behaviour_of(thread_of('S', 0, 0)).kind, BehaviourKind::kStuck);
  EXPECT_EQ(behaviour_of(thread_of('S', 1000, 5)).kind, BehaviourKind::kPolling);
}

TEST(Behaviour, SpinningIsSameFunctionWithTheProcessorBurnt) {
  Thread thread = thread_of('R', kInterval, 0);
  thread.samples[1].stack[0].line = 2;
  EXPECT_EQ(behaviour_of(thread).kind, BehaviourKind::kSpinning);
  EXPECT_DOUBLE_EQ(behaviour_of(thread).cpu_share, 1);
  thread.samples[1].stack[0].function = "other";
  EXPECT_EQ(behaviour_of(thread).kind, BehaviourKind::kRunning);
}

TEST(Behaviour, MovingOnIsRunningEvenIfItSleepsMostly) {
  Thread thread = thread_of('S', 0, 1);
  thread.samples[2].stack[0].line = 2;
  EXPECT_EQ(behaviour_of(thread).kind, BehaviourKind::kRunning);
}

TEST(Behaviour, DiskIsOneUninterruptibleSleep) {
  EXPECT_EQ(behaviour_of(thread_of('D', 0, 0)).kind, BehaviourKind::kDisk);
  EXPECT_EQ(behaviour_of(thread_of('D', 0, 3)).kind, BehaviourKind::kPolling);
}

TEST(Behaviour, StoppedAndUnknown) {
  EXPECT_EQ(behaviour_of(thread_of('T', 0, 0)).kind, BehaviourKind::kStopped);
  Thread once = thread_of('S', 0, 0);
  once.samples.resize(1);
  EXPECT_EQ(behaviour_of(once).kind, BehaviourKind::kUnknown);
  EXPECT_EQ(behaviour_of(Thread{}).kind, BehaviourKind::kUnknown);
}

}  // namespace
}  // namespace teller::snapshot_detail
