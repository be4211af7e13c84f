// Arrows tie what no id and no time ties.
#include "run_builder.h"

namespace teller {
namespace {

constexpr const char* kKineto = R"({"dialect":"kineto","source":"trace.json"})";
constexpr auto kStart = EventKind::kFlowStart;
constexpr auto kEnd = EventKind::kFlowEnd;

TEST(Flows, AnActivityWithoutIdsHangsUnderTheCallThatItsFlowComesFrom) {
  RunBuilder run;
  run.source(kKineto).range("aten::mm", 0, 100, kFlagOperator);
  run.call("cudaLaunchKernel", 10, 20, 1).call("cudaMemcpyAsync", 30, 40, 2);
  run.loose_kernel("gemm", 50, 60).loose_kernel("copy", 60, 70).loose_kernel("lost", 80, 90);
  run.flow(kStart, "ac2g", 1, 10).flow(kStart, "ac2g", 2, 30);
  run.flow(kEnd, "ac2g", 1, 50, 0).flow(kEnd, "ac2g", 2, 60, 0);
  const Rebuilt rebuilt(run);
  EXPECT_EQ(rebuilt.parent("gemm"), "cudaLaunchKernel");
  EXPECT_EQ(rebuilt.parent("copy"), "cudaMemcpyAsync");
  EXPECT_EQ(rebuilt.parent("lost"), "outside pid 1");
  EXPECT_EQ(rebuilt.counter("bound_by_flow"), 2u);
  EXPECT_EQ(rebuilt.counter("without_call"), 1u);
  EXPECT_EQ(rebuilt.records("links"), 4u);
}

TEST(Flows, IdsComeFirst) {
  RunBuilder run;
  run.source(kKineto).external_range("aten::mm", 0, 9, 3);
  run.call("right", 10, 20, 1).call("wrong", 30, 40, 2);
  run.kernel("by id", 50, 60, 1).kernel("by external id", 70, 80, 77, 3);
  run.flow(kStart, "ac2g", 5, 30).flow(kEnd, "ac2g", 5, 50, 0).flow(kEnd, "ac2g", 5, 70, 0);
  const Rebuilt rebuilt(run);
  EXPECT_EQ(rebuilt.parent("by id"), "right");
  EXPECT_EQ(rebuilt.parent("by external id"), "aten::mm");
  EXPECT_EQ(rebuilt.counter("bound_by_flow"), 0u);
}

TEST(Flows, WithoutACallTheInnermostRangeIsTheLaunch) {
  RunBuilder run;
  run.source(kKineto).range("outer", 0, 100).range("inner", 10, 20).range("later", 30, 40);
  run.loose_kernel("gemm", 50, 60).flow(kStart, "ac2g", 1, 15).flow(kEnd, "ac2g", 1, 50, 0);
  EXPECT_EQ(Rebuilt(run).parent("gemm"), "inner");
}

TEST(Flows, ARowThatCameLaterIsFoundByItsNumbers) {
  RunBuilder run;
  run.source(kKineto).call("cudaLaunchKernel", 10, 20, 1).flow(kStart, "ac2g", 1, 10);
  run.thread(0, 7).flow(kEnd, "ac2g", 1, 50).thread(1, 1).loose_kernel("gemm", 50, 60);
  EXPECT_EQ(Rebuilt(run).parent("gemm"), "cudaLaunchKernel");
}

TEST(Flows, OfARowThatContextsShareTheActivityThatBeganLastIsTied) {
  RunBuilder run;
  run.source(kKineto).call("cudaLaunchKernel", 10, 20, 1).flow(kStart, "ac2g", 1, 10);
  run.thread(0, 7).flow(kEnd, "ac2g", 1, 50).thread(1, 1).loose_kernel("long", 30, 90);
  EventRecord other = run.make(EventKind::kKernel, "short", 50, 60);
  TrackRecord track;
  track.kind = static_cast<std::uint32_t>(TrackKind::kDeviceStream);
  track.device = 0;
  track.stream = 7;
  track.context = 2;
  other.track = run.track(track);
  const Rebuilt rebuilt(run.add(other));
  EXPECT_EQ(rebuilt.parent("short"), "cudaLaunchKernel");
  EXPECT_EQ(rebuilt.parent("long"), "outside pid 1");
}

TEST(Flows, AnIdThatRepeatsBelongsToTheLatestStart) {
  RunBuilder run;
  run.source(kKineto).call("first", 10, 20, 1).call("second", 30, 40, 2).call("third", 90, 95, 3);
  run.loose_kernel("a", 25, 28).loose_kernel("b", 50, 60);
  for (const std::int64_t time : {10, 30, 90}) run.flow(kStart, "ac2g", 1, time);
  run.flow(kEnd, "ac2g", 1, 25, 0).flow(kEnd, "ac2g", 1, 50, 0).flow(kEnd, "other", 1, 50, 0);
  const Rebuilt rebuilt(run);
  EXPECT_EQ(rebuilt.parent("a"), "first");
  EXPECT_EQ(rebuilt.parent("b"), "second");
}

TEST(Flows, AGraphsActivitiesAreMarked) {
  RunBuilder run;
  run.source(kKineto).call("cudaGraphLaunch", 10, 20, 1).flow(kStart, "ac2g", 1, 10);
  for (const std::int64_t time : {30, 40}) {
    run.loose_kernel("gemm", time, time + 5).flow(kEnd, "ac2g", 1, time, 0);
  }
  const Rebuilt rebuilt(run);
  EXPECT_TRUE(rebuilt.has("gemm", kNodeGraph));
  EXPECT_EQ(rebuilt.counter("graph_launches"), 1u);
  EXPECT_EQ(rebuilt.counter("bound_by_flow"), 2u);
}

TEST(Flows, AGraphIsCountedOnceHoweverItsActivitiesAreTied) {
  RunBuilder run;
  run.source(kKineto).call("cudaGraphLaunch", 10, 20, 1).call("cudaGraphLaunch", 30, 40, 2);
  run.kernel("by id", 50, 60, 1).kernel("of the other", 60, 70, 2).loose_kernel("loose", 70, 80);
  run.flow(kStart, "ac2g", 1, 10).flow(kEnd, "ac2g", 1, 70, 0);
  const Rebuilt rebuilt(run);
  EXPECT_TRUE(rebuilt.has("loose", kNodeGraph));
  EXPECT_EQ(rebuilt.counter("bound_by_flow"), 1u);
  EXPECT_EQ(rebuilt.counter("graph_launches"), 2u);
}

TEST(Flows, OfActivitiesThatBeganTogetherEachIsTied) {
  RunBuilder run;
  run.source(kKineto).call("cudaGraphLaunch", 10, 20, 1).loose_kernel("before", 45, 50);
  run.loose_kernel("short", 50, 52).loose_kernel("middle", 50, 60).loose_kernel("long", 50, 70);
  run.flow(kStart, "ac2g", 1, 10).flow(kEnd, "ac2g", 1, 55, 0);
  EXPECT_EQ(Rebuilt(run).parent("middle"), "cudaGraphLaunch");

  RunBuilder all;
  all.source(kKineto).call("cudaGraphLaunch", 10, 20, 1).loose_kernel("before", 45, 50);
  all.loose_kernel("short", 50, 52).loose_kernel("middle", 50, 60).loose_kernel("long", 50, 70);
  all.flow(kStart, "ac2g", 1, 10);
  for (int i = 0; i < 4; ++i) all.flow(kEnd, "ac2g", 1, 50, 0);
  const Rebuilt rebuilt(all);
  for (const char* name : {"short", "middle", "long"}) {
    EXPECT_EQ(rebuilt.parent(name), "cudaGraphLaunch") << name;
  }
  EXPECT_EQ(rebuilt.parent("before"), "outside pid 1");
  EXPECT_EQ(rebuilt.counter("bound_by_flow"), 3u);
}

// In a container processes and threads have numbers as small as those of devices and streams.
TEST(Flows, ForwardBackwardArrowsTieNoActivity) {
  RunBuilder run;
  run.source(kKineto).range("forward", 0, 20, kFlagOperator).flow(kStart, "fwdbwd", 1, 10);
  run.thread(1, 7).range("backward", 50, 60, kFlagOperator).flow(kEnd, "fwdbwd", 1, 50);
  run.loose_kernel("gemm", 50, 60, 1);
  const Rebuilt rebuilt(run);
  EXPECT_EQ(rebuilt.parent("gemm"), "outside pid 1");
  EXPECT_EQ(rebuilt.counter("bound_by_flow"), 0u);
}

TEST(Flows, WhatEndedOnTheThreadIsNoWayToAnother) {
  RunBuilder run;
  run.source(kKineto).external_range("aten::mm", 0, 100, 3);
  run.thread(1, 2).call("cudaLaunchKernel", 20, 30, 9, 3).loose_kernel("gemm", 60, 70);
  run.flow(kStart, "ac2g", 1, 50).flow(kEnd, "ac2g", 1, 60, 0);
  const Rebuilt rebuilt(run);
  EXPECT_EQ(rebuilt.parent("cudaLaunchKernel"), "aten::mm");
  EXPECT_EQ(rebuilt.parent("gemm"), "outside pid 1");
}

class BackwardTest : public testing::Test {
 protected:
  BackwardTest() {
    run_.source(kKineto).range("ProfilerStep#1", 0, 100).range("forward 1", 10, 20, kFlagOperator);
    run_.range("ProfilerStep#2", 100, 200).range("forward 2", 110, 120, kFlagOperator);
    run_.range("forward 0", 210, 220, kFlagOperator);
  }
  // A backward operator at `time` of the forward operator at `forward`.
  void backward(std::uint64_t id, std::int64_t forward, std::int64_t time) {
    run_.thread(1, 1).flow(kStart, "fwdbwd", id, forward);
    run_.thread(1, 2).flow(kEnd, "fwdbwd", id, time);
  }
  RunBuilder run_;
};

TEST_F(BackwardTest, ItsForwardOperatorTellsTheStepThatTimesDoNot) {
  run_.thread(1, 2).range("over the end", 90, 110, kFlagOperator);
  run_.range("inside", 92, 95, kFlagOperator).call("cudaLaunchKernel", 93, 94, 1);
  run_.kernel("gemm", 300, 310, 1).range("by time", 130, 140, kFlagOperator);
  backward(1, 10, 90);
  backward(2, 15, 92);
  backward(3, 10, 130);
  const Rebuilt rebuilt(run_);
  EXPECT_EQ(rebuilt.parent("over the end"), "ProfilerStep#1");
  EXPECT_EQ(rebuilt.chains.nodes.step[rebuilt.node("gemm")], 0u);
  EXPECT_EQ(rebuilt.parent("by time"), "ProfilerStep#2");
  EXPECT_EQ(rebuilt.counter("worker_ranges_by_flow"), 1u);
}

TEST_F(BackwardTest, ForwardOperatorsOfSeveralStepsTellNothing) {
  run_.thread(1, 2).range("both", 90, 130, kFlagOperator).range("late", 205, 206, kFlagOperator);
  backward(1, 10, 95);
  backward(3, 110, 125);
  run_.range("none", 195, 204, kFlagOperator).range("of no step", 230, 240, kFlagOperator);
  backward(4, 210, 230);
  const Rebuilt rebuilt(run_);
  for (const char* name : {"both", "late", "none", "of no step"}) {
    EXPECT_EQ(rebuilt.parent(name), "outside pid 1") << name;
  }
  EXPECT_EQ(rebuilt.counter("worker_ranges_by_flow"), 0u);
}

// What a worker did before hangs under a step: that is no operator at which the arrow begins.
TEST_F(BackwardTest, AnArrowFromWhereNoOperatorIsTellsNothing) {
  run_.thread(1, 2).range("by time", 30, 40, kFlagOperator);
  run_.thread(1, 3).range("over the end", 90, 110, kFlagOperator);
  run_.thread(1, 2).flow(kStart, "fwdbwd", 1, 50);
  run_.thread(1, 3).flow(kEnd, "fwdbwd", 1, 95);
  const Rebuilt rebuilt(run_);
  EXPECT_EQ(rebuilt.parent("by time"), "ProfilerStep#1");
  EXPECT_EQ(rebuilt.parent("over the end"), "outside pid 1");
  EXPECT_EQ(rebuilt.counter("worker_ranges_by_flow"), 0u);
}

TEST_F(BackwardTest, OfStepsThatOverlapTheForwardOperatorsStepIsTaken) {
  run_.thread(1, 3).range("ProfilerStep#7", 40, 190).range("forward 7", 50, 60, kFlagOperator);
  run_.thread(1, 2).range("backward", 70, 80, kFlagOperator);
  run_.thread(1, 3).flow(kStart, "fwdbwd", 1, 50);
  run_.thread(1, 2).flow(kEnd, "fwdbwd", 1, 70);
  const Rebuilt rebuilt(run_);
  EXPECT_EQ(rebuilt.parent("backward"), "ProfilerStep#7");
  EXPECT_EQ(rebuilt.counter("worker_ranges_ambiguous"), 0u);
}

}  // namespace
}  // namespace teller
