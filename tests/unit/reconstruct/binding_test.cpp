// Device activities hang under their calls.
#include "run_builder.h"

namespace teller {
namespace {

constexpr const char* kKineto = R"({"dialect":"kineto","source":"trace.json"})";

TEST(Binding, KernelsHangUnderTheCallWithTheirCorrelationId) {
  RunBuilder run;
  run.range("op", 0, 50, kFlagOperator)
      .call("cudaLaunchKernel", 10, 20, 7)
      .kernel("gemm", 30, 90, 7);
  const Rebuilt rebuilt(run);
  EXPECT_EQ(rebuilt.parent("gemm"), "cudaLaunchKernel");
  EXPECT_EQ(rebuilt.parent("cudaLaunchKernel"), "op");
  EXPECT_EQ(rebuilt.counter("bound_by_correlation"), 1u);
}

TEST(Binding, AGraphLaunchOwnsAllItsKernels) {
  RunBuilder run;
  run.call("cudaGraphLaunch", 10, 20, 7).kernel("k3", 50, 60, 7).kernel("k1", 30, 40, 7);
  run.kernel("k2", 40, 50, 7);
  const Rebuilt rebuilt(run);
  for (const char* name : {"k1", "k2", "k3"}) EXPECT_EQ(rebuilt.parent(name), "cudaGraphLaunch");
  EXPECT_LT(rebuilt.node("k1"), rebuilt.node("k2"));
  EXPECT_LT(rebuilt.node("k2"), rebuilt.node("k3"));
  EXPECT_EQ(rebuilt.counter("graph_launches"), 1u);
  EXPECT_TRUE(rebuilt.has("k1", kNodeGraph));
}

TEST(Binding, IdsOfOtherProcessesAndFilesAreOthers) {
  RunBuilder run;
  run.source(R"({"dialect":"nsys","source":"a.sqlite"})");
  run.thread(1, 1).call("launch a", 10, 20, 7).thread(2, 2).call("launch b", 10, 20, 7);
  run.kernel("kernel b", 30, 40, 7).thread(1, 1).kernel("kernel a", 30, 40, 7);
  run.source(R"({"dialect":"nsys","source":"b.sqlite"})").kernel("kernel c", 30, 40, 7);
  const Rebuilt rebuilt(run);
  EXPECT_EQ(rebuilt.parent("kernel a"), "launch a");
  EXPECT_EQ(rebuilt.parent("kernel b"), "launch b");
  EXPECT_EQ(rebuilt.parent("kernel c"), "outside pid 1");
}

TEST(Binding, ARepeatedIdBelongsToTheLatestCallBefore) {
  RunBuilder run;
  run.call("first", 10, 20, 7).call("second", 100, 110, 7);
  run.kernel("early", 30, 40, 7).kernel("late", 120, 130, 7);
  const Rebuilt rebuilt(run);
  EXPECT_EQ(rebuilt.parent("early"), "first");
  EXPECT_EQ(rebuilt.parent("late"), "second");
}

TEST(Binding, OrphansBeforeTheWindowAreToldFromOthers) {
  RunBuilder run;
  run.call("cudaLaunchKernel", 10, 20, 100).kernel("before", 5, 30, 50).kernel("lost", 30, 40, 150);
  const Rebuilt rebuilt(run);
  EXPECT_EQ(rebuilt.counter("before_window"), 1u);
  EXPECT_EQ(rebuilt.counter("without_call"), 1u);
  EXPECT_EQ(rebuilt.parent("before"), "outside pid 1");
}

TEST(Binding, ExternalIdServesWhereThereIsNoRangeOrCall) {
  RunBuilder run;
  run.source(kKineto).external_range("aten::mm", 10, 50, 3);
  run.thread(1, 2).call("cudaLaunchKernel", 20, 30, 9, 3).kernel("alone", 60, 70, 77, 3);
  const Rebuilt rebuilt(run);
  EXPECT_EQ(rebuilt.parent("cudaLaunchKernel"), "aten::mm");
  EXPECT_EQ(rebuilt.parent("alone"), "aten::mm");
  EXPECT_EQ(rebuilt.counter("calls_by_external_id"), 1u);
  EXPECT_EQ(rebuilt.counter("bound_by_external_id"), 1u);
  EXPECT_EQ(rebuilt.counter("without_call"), 0u);
}

TEST(Binding, CyclicExternalIdsMakeNoCycle) {
  RunBuilder run;
  run.source(kKineto);
  run.thread(1, 1).call("call 1", 0, 100, 1, 22).external_range("op 1", 10, 20, 11);
  run.thread(1, 2).call("call 2", 0, 100, 2, 11).external_range("op 2", 10, 20, 22);
  const Rebuilt rebuilt(run);
  EXPECT_EQ(rebuilt.parent("op 1"), "call 1");
  EXPECT_EQ(rebuilt.parent("op 2"), "call 2");
  EXPECT_EQ(rebuilt.parent("call 1"), "outside pid 1");
}

TEST(Binding, DuplicatesAreDroppedAndCounted) {
  RunBuilder run;
  run.call("cudaLaunchKernel", 10, 20, 7).call("cudaLaunchKernel", 10, 20, 7);
  run.kernel("gemm", 30, 40, 7).kernel("gemm", 30, 40, 7);
  const Rebuilt rebuilt(run);
  EXPECT_EQ(rebuilt.records("duplicates"), 2u);
  EXPECT_EQ(rebuilt.records("nodes"), 2u);
}

// Importers give the arguments of every record an id of their own.
TEST(Binding, DuplicatesAreFoundByTheTextOfTheirArguments) {
  RunBuilder run;
  EventRecord call = run.make(EventKind::kApiCall, "cudaLaunchKernel", 10, 20);
  EventRecord kernel = run.make(EventKind::kKernel, "gemm", 30, 40);
  call.flags = kernel.flags = kFlagHasCorrelation;
  call.correlation = kernel.correlation = 7;
  for (const char* argument : {"1", "1", "2"}) {
    call.attrs = run.new_text(std::string("{\"foo\":") + argument + "}");
    kernel.attrs = run.new_text(std::string("{\"grid\":") + argument + "}");
    run.add(call).add(kernel);
  }
  const Rebuilt rebuilt(run);
  EXPECT_EQ(rebuilt.records("duplicates"), 2u);
  EXPECT_EQ(rebuilt.counter("calls"), 2u);
  EXPECT_EQ(rebuilt.counter("device_activities"), 2u);
}

TEST(Binding, TheSameActivityTwiceIsFoundAmongThoseOfItsLaunch) {
  RunBuilder run;
  run.call("cudaGraphLaunch", 0, 10, 1);
  for (int round = 0; round < 2; ++round) run.kernel("a", 20, 30, 1).kernel("b", 20, 30, 1);
  const Rebuilt rebuilt(run);
  EXPECT_EQ(rebuilt.records("duplicates"), 2u);
  EXPECT_EQ(rebuilt.counter("device_activities"), 2u);
}

}  // namespace
}  // namespace teller
