// Annotations whose context manager's own frames stand around their begins and ends, as Kineto
// records them with with_stack=True.
#include "run_builder.h"

namespace teller {
namespace {

void frame(RunBuilder& run, const std::string& name, std::int64_t begin, std::int64_t end) {
  run.range(name, begin, end, kFlagPython);
}

// Two steps: each begins inside step() > __enter__ and ends inside the next step() > __exit__.
void add_profiled_loop(RunBuilder& run) {
  frame(run, "train.py(1): <module>", 0, 1000);
  frame(run, "profiler.py(1): step", 10, 40);
  frame(run, "profiler.py(2): __enter__", 20, 35);
  run.range("ProfilerStep#1", 30, 310);
  frame(run, "train.py(9): forward", 100, 200);
  run.range("aten::mm", 110, 190, kFlagOperator);
  frame(run, "profiler.py(1): step", 300, 340);
  frame(run, "profiler.py(3): __exit__", 305, 315);
  frame(run, "profiler.py(2): __enter__", 320, 335);
  run.range("ProfilerStep#2", 330, 610);
  frame(run, "train.py(9): backward", 400, 500);
  frame(run, "profiler.py(1): step", 600, 640);
  frame(run, "profiler.py(3): __exit__", 605, 615);
}

TEST(Frames, StepsKeepTheirLengthAndWhatLiesInThem) {
  RunBuilder run;
  add_profiled_loop(run);
  const Rebuilt rebuilt(run);
  ASSERT_EQ(rebuilt.chains.step_count(), 2u);
  EXPECT_EQ(rebuilt.chains.steps.begin_ns[0], 30);
  EXPECT_EQ(rebuilt.chains.steps.end_ns[0], 310);
  EXPECT_EQ(rebuilt.chains.steps.end_ns[1], 610);
  EXPECT_EQ(rebuilt.parent("train.py(9): forward"), "ProfilerStep#1");
  EXPECT_EQ(rebuilt.parent("aten::mm"), "train.py(9): forward");
  EXPECT_EQ(rebuilt.parent("train.py(9): backward"), "ProfilerStep#2");
}

TEST(Frames, WhatIsCutIsTheFrameAndIsCounted) {
  RunBuilder run;
  add_profiled_loop(run);
  const Rebuilt rebuilt(run);
  // step() and __enter__ before the first step; step() and __exit__ at the end of the first;
  // __enter__ before the second; step() and __exit__ at its end.
  EXPECT_EQ(rebuilt.counter("frames_cut_by_annotations"), 7u);
  EXPECT_EQ(rebuilt.counter("overlaps_clipped"), 0u);
  EXPECT_FALSE(rebuilt.has("ProfilerStep#1", kNodeRepaired));
  const std::uint32_t enter = rebuilt.node("profiler.py(2): __enter__");
  for (std::uint32_t node = 0; node < rebuilt.chains.node_count(); ++node) {
    const std::uint32_t parent = rebuilt.chains.nodes.parent[node];
    if (parent == kNoIndex) continue;
    EXPECT_LE(rebuilt.chains.nodes.end_ns[node], rebuilt.chains.nodes.end_ns[parent]);
  }
  EXPECT_NE(enter, kNoIndex);
  EXPECT_TRUE((rebuilt.chains.nodes.flags[enter] & kNodeRepaired) != 0);
}

TEST(Frames, ANestedAnnotationStandsInTheFunctionThatUsesIt) {
  RunBuilder run;
  frame(run, "a.py(1): outer", 0, 200);
  frame(run, "profiler.py(2): __enter__", 10, 30);
  frame(run, "<built-in method _record_function_enter_new>", 12, 28);
  run.range("my region", 20, 100);
  frame(run, "a.py(2): work", 40, 80);
  frame(run, "profiler.py(3): __exit__", 90, 120);
  const Rebuilt rebuilt(run);
  EXPECT_EQ(rebuilt.parent("my region"), "a.py(1): outer");
  EXPECT_EQ(rebuilt.parent("a.py(2): work"), "my region");
  EXPECT_EQ(rebuilt.counter("frames_cut_by_annotations"), 3u);
}

TEST(Frames, AnAnnotationInsideAFunctionCutsNothing) {
  RunBuilder run;
  frame(run, "a.py(1): outer", 0, 200);
  run.range("my region", 20, 100);
  const Rebuilt rebuilt(run);
  EXPECT_EQ(rebuilt.parent("my region"), "a.py(1): outer");
  EXPECT_EQ(rebuilt.counter("frames_cut_by_annotations"), 0u);
}

TEST(Frames, AnOperatorIsClippedToTheFunctionThatItOutlasts) {
  RunBuilder run;
  frame(run, "a.py(1): main", 0, 100'000);
  frame(run, "a.py(5): forward", 1'000, 91'000);
  run.range("aten::linear", 40'000, 91'002, kFlagOperator);
  frame(run, "a.py(9): later", 95'000, 96'000);
  const Rebuilt rebuilt(run);
  EXPECT_EQ(rebuilt.counter("frames_cut_by_annotations"), 0u);
  EXPECT_EQ(rebuilt.counter("overlaps_clipped"), 1u);
  EXPECT_EQ(rebuilt.parent("aten::linear"), "a.py(5): forward");
  EXPECT_EQ(rebuilt.chains.nodes.end_ns[rebuilt.node("aten::linear")], 91'000);
  EXPECT_EQ(rebuilt.chains.nodes.end_ns[rebuilt.node("a.py(5): forward")], 91'000);
}

TEST(Frames, AStepThatBeginsShortlyBeforeTheOneBeforeItEndsIsAStep) {
  RunBuilder run;
  run.range("ProfilerStep#1", 1'000, 50'004).range("aten::mm", 49'000, 50'003, kFlagOperator);
  run.call("cudaLaunchKernel", 49'500, 50'002, 1);
  run.range("ProfilerStep#2", 50'000, 90'001).range("aten::add", 60'000, 70'000, kFlagOperator);
  run.range("ProfilerStep#3", 89'001, 120'000);
  const Rebuilt rebuilt(run);
  ASSERT_EQ(rebuilt.chains.step_count(), 3u);
  EXPECT_EQ(rebuilt.chains.steps.end_ns[0], 50'000);
  EXPECT_EQ(rebuilt.chains.steps.begin_ns[1], 50'000);
  EXPECT_EQ(rebuilt.chains.steps.end_ns[1], 89'001);
  EXPECT_EQ(rebuilt.chains.steps.end_ns[2], 120'000);
  EXPECT_EQ(rebuilt.chains.nodes.end_ns[rebuilt.node("cudaLaunchKernel")], 50'000);
  EXPECT_EQ(rebuilt.parent("aten::mm"), "ProfilerStep#1");
  EXPECT_EQ(rebuilt.parent("aten::add"), "ProfilerStep#2");
  EXPECT_TRUE(rebuilt.has("ProfilerStep#1", kNodeRepaired));
  EXPECT_FALSE(rebuilt.has("ProfilerStep#3", kNodeRepaired));
  EXPECT_EQ(rebuilt.counter("overlaps_clipped"), 4u);
}

TEST(Frames, AStepThatOverlapsByMoreThanRoundingIsClipped) {
  RunBuilder run;
  run.range("ProfilerStep#1", 1'000, 50'000).range("ProfilerStep#2", 48'999, 90'000);
  const Rebuilt rebuilt(run);
  EXPECT_EQ(rebuilt.chains.step_count(), 1u);
  EXPECT_EQ(rebuilt.chains.nodes.end_ns[rebuilt.node("ProfilerStep#2")], 50'000);
}

TEST(Frames, OperatorsThatFollowEachOtherStandBesideEachOther) {
  RunBuilder run;
  run.range("aten::mul", 1'000, 5'250, kFlagOperator)
      .range("aten::add", 5'000, 9'000, kFlagOperator);
  run.range("aten::empty", 8'200, 9'010, kFlagOperator);  // inside by more than half
  const Rebuilt rebuilt(run);
  EXPECT_EQ(rebuilt.parent("aten::add"), rebuilt.parent("aten::mul"));
  EXPECT_EQ(rebuilt.chains.nodes.end_ns[rebuilt.node("aten::mul")], 5'000);
  EXPECT_EQ(rebuilt.chains.nodes.end_ns[rebuilt.node("aten::add")], 9'000);
  EXPECT_EQ(rebuilt.parent("aten::empty"), "aten::add");
}

TEST(Frames, StepsThatFollowEachOtherInsideFramesAreSteps) {
  RunBuilder run;
  frame(run, "train.py(1): <module>", 0, 200'000);
  run.range("ProfilerStep#1", 1'000, 50'004);
  frame(run, "profiler.py(1): step", 45'000, 51'000);
  run.range("ProfilerStep#2", 50'000, 90'000);
  const Rebuilt rebuilt(run);
  ASSERT_EQ(rebuilt.chains.step_count(), 2u);
  EXPECT_EQ(rebuilt.chains.steps.begin_ns[1], 50'000);
  EXPECT_EQ(rebuilt.chains.steps.end_ns[1], 90'000);
}

TEST(Frames, AnnotationsThatOverlapEachOtherAreStillClipped) {
  RunBuilder run;
  run.range("first", 0, 50).range("second", 20, 100);
  const Rebuilt rebuilt(run);
  EXPECT_EQ(rebuilt.counter("overlaps_clipped"), 1u);
  EXPECT_EQ(rebuilt.chains.nodes.end_ns[rebuilt.node("second")], 50);
}

}  // namespace
}  // namespace teller
