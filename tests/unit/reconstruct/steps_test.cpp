// Steps: their roots, what hangs under them, and what stays outside.
#include "run_builder.h"

namespace teller {
namespace {

TEST(Steps, TheOutermostRangeIsTheStep) {
  RunBuilder run;
  run.source(R"({"dialect":"kineto","source":"t.json"})");
  run.range("serve.py(1): loop", 0, 1000, kFlagPython);
  run.range("execute_4_context_1(sq4sk4)_generation_0(sq0sk0)", 10, 500);
  run.range("step[EXTEND bs=1 toks=4]", 20, 400).range("aten::mm", 30, 50, kFlagOperator);
  run.call("cudaLaunchKernel", 35, 40, 1).kernel("gemm", 600, 700, 1).range("after", 600, 700);
  const Rebuilt rebuilt(run);
  ASSERT_EQ(rebuilt.chains.step_count(), 1u);
  const std::uint32_t root = rebuilt.chains.steps.root[0];
  EXPECT_EQ(rebuilt.chains.layer(root), Layer::kStep);
  EXPECT_EQ(rebuilt.chains.nodes.parent[root], kNoIndex);
  EXPECT_EQ(rebuilt.chains.layer(rebuilt.node("step[EXTEND bs=1 toks=4]")), Layer::kFrontEnd);
  EXPECT_EQ(rebuilt.chains.layer(rebuilt.node("aten::mm")), Layer::kBackEnd);
  EXPECT_EQ(rebuilt.chains.layer(rebuilt.node("gemm")), Layer::kKernel);
  EXPECT_EQ(rebuilt.chains.nodes.step[rebuilt.node("gemm")], 0u);
  EXPECT_EQ(rebuilt.chains.nodes.step[rebuilt.node("after")], kNoIndex);
  EXPECT_EQ(rebuilt.parent("after"), "serve.py(1): loop");
  EXPECT_EQ(rebuilt.chains.steps.end_ns[0], 500);
  EXPECT_EQ(rebuilt.chains.steps.last_ns[0], 700);
  EXPECT_EQ(rebuilt.chains.steps.device_busy_ns[0], 100);
  EXPECT_EQ(rebuilt.chains.steps.node_count[0], 5u);
  EXPECT_EQ(rebuilt.chains.steps.tokens[0], 4);
  EXPECT_EQ(rebuilt.chains.steps.seqs[0], 1);
}

TEST(Steps, TheScheduleOfAStepIsANodeInIt) {
  RunBuilder run;
  run.step("engine step", 0, 100)
      .step("schedule", 10, 30)
      .record(20, R"({"v":1,"engine":"e","req":[]})");
  const Rebuilt rebuilt(run);
  ASSERT_EQ(rebuilt.chains.step_count(), 1u);
  EXPECT_EQ(rebuilt.parent("schedule"), "engine step");
  EXPECT_TRUE(rebuilt.has("schedule", kNodeSchedule));
  EXPECT_EQ(rebuilt.chains.layer(rebuilt.node("schedule")), Layer::kStep);
  EXPECT_EQ(rebuilt.chains.steps.schedule[0], rebuilt.node("schedule"));
}

TEST(Steps, AScheduleOnItsOwnIsAStep) {
  RunBuilder run;
  run.step("schedule", 10, 30).record(20, R"({"v":1,"engine":"e","req":[["r","decode",0,1,5]]})");
  const Rebuilt rebuilt(run);
  ASSERT_EQ(rebuilt.chains.step_count(), 1u);
  EXPECT_EQ(rebuilt.chains.steps.schedule[0], rebuilt.chains.steps.root[0]);
  EXPECT_EQ(rebuilt.chains.row_count(), 1u);
}

TEST(Steps, WorkerThreadsWithOperatorsJoinTheOneStepAroundThem) {
  RunBuilder run;
  run.range("ProfilerStep#1", 0, 100).range("ProfilerStep#2", 100, 200);
  run.thread(1, 2).range("autograd::engine::evaluate_function: MmBackward0", 20, 60, kFlagOperator);
  run.call("cudaLaunchKernel", 30, 40, 1).kernel("gemm", 45, 70, 1);
  run.range("aten::across", 90, 110, kFlagOperator);
  run.thread(1, 3).call("cudaEventQuery", 20, 21, 2);
  const Rebuilt rebuilt(run);
  EXPECT_EQ(rebuilt.parent("autograd::engine::evaluate_function: MmBackward0"), "ProfilerStep#1");
  EXPECT_EQ(rebuilt.chains.nodes.step[rebuilt.node("gemm")], 0u);
  EXPECT_EQ(rebuilt.parent("aten::across"), "outside pid 1");
  EXPECT_EQ(rebuilt.parent("cudaEventQuery"), "outside pid 1");
  EXPECT_EQ(rebuilt.chains.steps.number[1], 2);
}

TEST(Steps, AWorkersStepIsFoundAmongManyOfOtherProcesses) {
  RunBuilder run;
  run.thread(7, 1).step("own", 0, 1000);
  for (int i = 0; i < 40; ++i) run.thread(100 + i, 1).step("other", 1 + i, 1000);
  run.thread(7, 2).range("aten::mm", 500, 600, kFlagOperator);
  const Rebuilt rebuilt(run);
  EXPECT_EQ(rebuilt.parent("aten::mm"), "own");
}

TEST(Steps, AStepThatHangsTakesNoWorkFromLaterOnes) {
  RunBuilder run;
  run.push("hangs", 0, "teller", "STEP");
  run.thread(1, 2).step("first", 10, 100).step("second", 110, 200);
  run.push("cut off", 300, "teller", "STEP");
  run.thread(1, 3).range("aten::a", 20, 30, kFlagOperator).range("aten::b", 120, 130);
  run.range("aten::c", 250, 260, kFlagOperator).range("aten::d", 310, 320, kFlagOperator);
  const Rebuilt rebuilt(run);
  EXPECT_EQ(rebuilt.parent("aten::a"), "first");
  EXPECT_EQ(rebuilt.parent("aten::b"), "second");
  EXPECT_EQ(rebuilt.parent("aten::c"), "hangs");
  EXPECT_EQ(rebuilt.parent("aten::d"), "cut off");
  EXPECT_EQ(rebuilt.counter("worker_ranges_ambiguous"), 0u);
}

TEST(Steps, TwoStepsAroundAWorkersRangeAreSaid) {
  RunBuilder run;
  run.step("a", 0, 100).thread(1, 2).step("b", 10, 90).thread(1, 3).step("c", 80, 85);
  run.thread(1, 4).range("aten::x", 20, 30, kFlagOperator).range("aten::y", 92, 95);
  const Rebuilt rebuilt(run);
  EXPECT_EQ(rebuilt.parent("aten::x"), "outside pid 1");
  EXPECT_EQ(rebuilt.parent("aten::y"), "a");
  EXPECT_EQ(rebuilt.counter("worker_ranges_ambiguous"), 1u);
}

TEST(Steps, NoStepIsSaid) {
  RunBuilder run;
  run.range("a", 0, 10);
  const Rebuilt rebuilt(run);
  EXPECT_EQ(rebuilt.chains.step_count(), 0u);
  EXPECT_NE(rebuilt.report["notes"].dump().find("no step was found"), std::string::npos);
}

TEST(Steps, AStepThatNeverEndedIsOpen) {
  RunBuilder run;
  run.push("engine step", 10, "teller", "STEP").range("a", 20, 50);
  const Rebuilt rebuilt(run);
  ASSERT_EQ(rebuilt.chains.step_count(), 1u);
  EXPECT_EQ(rebuilt.chains.steps.open[0], 1);
  EXPECT_EQ(rebuilt.parent("a"), "engine step");
}

TEST(Steps, CollectivesAreFlagged) {
  RunBuilder run;
  run.range("nccl:all_reduce", 0, 10)
      .kernel("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(x)", 5, 9, 1);
  run.kernel("void vllm::cross_device_reduce_1stage<float, 8>(int)", 10, 12, 2);
  run.range("comm.py(3): nccl_wait", 20, 30, kFlagPython);
  const Rebuilt rebuilt(run);
  EXPECT_TRUE(rebuilt.has("nccl:all_reduce", kNodeCollective));
  EXPECT_TRUE(rebuilt.has("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(x)", kNodeCollective));
  EXPECT_TRUE(rebuilt.has("void vllm::cross_device_reduce_1stage<float, 8>(int)", kNodeCollective));
  EXPECT_FALSE(rebuilt.has("comm.py(3): nccl_wait", kNodeCollective));
}

}  // namespace
}  // namespace teller
