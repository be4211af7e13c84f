// Ranges, marks and calls of a thread form one tree by containment.
#include "run_builder.h"

namespace teller {
namespace {

TEST(Nesting, PushAndPopPairPerThreadAndDomain) {
  RunBuilder run;
  run.push("outer", 10, "a").push("inner", 20, "b").pop(30, "b").pop(40, "a");
  run.thread(1, 2).push("elsewhere", 15, "a").pop(35, "a");
  const Rebuilt rebuilt(run);
  EXPECT_EQ(rebuilt.parent("inner"), "outer");
  EXPECT_EQ(rebuilt.parent("outer"), "outside pid 1");
  EXPECT_EQ(rebuilt.parent("elsewhere"), "outside pid 1");
  EXPECT_EQ(rebuilt.chains.nodes.end_ns[rebuilt.node("inner")], 30);
  EXPECT_EQ(rebuilt.records("records_in"), 6u);
  EXPECT_EQ(rebuilt.records("nodes"), 6u);
}

TEST(Nesting, OpenRangesEndWithTheCapture) {
  RunBuilder run;
  run.push("stuck", 10).call("cudaStreamSynchronize", 20, kOpenNs, 1).range("last", 12, 15);
  run.thread(1, 2).range("later", 90, 100);
  const Rebuilt rebuilt(run);
  EXPECT_TRUE(rebuilt.has("stuck", kNodeOpen));
  EXPECT_TRUE(rebuilt.has("cudaStreamSynchronize", kNodeOpen));
  EXPECT_EQ(rebuilt.parent("cudaStreamSynchronize"), "stuck");
  EXPECT_EQ(rebuilt.parent("last"), "stuck");
  EXPECT_EQ(rebuilt.chains.nodes.end_ns[rebuilt.node("stuck")], 100);
  EXPECT_EQ(rebuilt.counter("open_items"), 2u);
}

TEST(Nesting, EndsWithoutBeginAreCounted) {
  RunBuilder run;
  run.pop(5).range("a", 10, 20);
  EventRecord end = run.make(EventKind::kRangeEnd, "", 30, 30);
  end.correlation = 99;
  run.add(end);
  const Rebuilt rebuilt(run);
  EXPECT_EQ(rebuilt.counter("pops_without_push"), 1u);
  EXPECT_EQ(rebuilt.counter("ends_without_start"), 1u);
  EXPECT_EQ(rebuilt.records("malformed"), 2u);
}

TEST(Nesting, OverlapIsClippedAndSaid) {
  RunBuilder run;
  run.range("first", 10, 30).range("second", 20, 40).range("third", 32, 38);
  const Rebuilt rebuilt(run);
  EXPECT_EQ(rebuilt.parent("second"), "first");
  EXPECT_TRUE(rebuilt.has("second", kNodeRepaired));
  EXPECT_EQ(rebuilt.chains.nodes.end_ns[rebuilt.node("second")], 30);
  EXPECT_EQ(rebuilt.parent("third"), "outside pid 1");
  EXPECT_EQ(rebuilt.counter("overlaps_clipped"), 1u);
}

TEST(Nesting, EqualIntervalsNestByLayerThenFileOrder) {
  RunBuilder run;
  run.call("cudaMalloc", 10, 20, 1).range("op", 10, 20, kFlagOperator).range("frame", 10, 20);
  run.range("frame2", 10, 20);
  const Rebuilt rebuilt(run);
  EXPECT_EQ(rebuilt.parent("frame2"), "frame");
  EXPECT_EQ(rebuilt.parent("op"), "frame2");
  EXPECT_EQ(rebuilt.parent("cudaMalloc"), "op");
}

TEST(Nesting, StartEndRangesNeedNotNest) {
  RunBuilder run;
  EventRecord start = run.make(EventKind::kRangeStart, "transfer", 15, 15);
  start.correlation = 7;
  run.range("send", 10, 20).add(start);
  run.thread(1, 2);
  EventRecord end = run.make(EventKind::kRangeEnd, "", 60, 60);
  end.correlation = 7;
  run.add(end).thread(1, 1).range("next", 25, 30);
  const Rebuilt rebuilt(run);
  EXPECT_EQ(rebuilt.parent("transfer"), "send");
  EXPECT_EQ(rebuilt.chains.nodes.end_ns[rebuilt.node("transfer")], 60);
  EXPECT_FALSE(rebuilt.has("transfer", kNodeRepaired));
  EXPECT_EQ(rebuilt.parent("next"), "outside pid 1");
  EXPECT_EQ(rebuilt.counter("async_ranges_loose"), 1u);
}

TEST(Nesting, StartEndRangesPairByProcessDomainCategoryAndId) {
  RunBuilder run;
  const auto edge = [&](EventKind kind, const char* name, std::int64_t time, StringId domain,
                        StringId category) {
    EventRecord event = run.make(kind, name, time, time);
    event.correlation = 7;
    event.domain = domain;
    event.category = category;
    run.add(event);
  };
  run.range("x", 0, 1).range("y", 0, 1);  // strings 1 and 2
  edge(EventKind::kRangeStart, "outer", 10, 1, 1);
  edge(EventKind::kRangeStart, "other domain", 11, 2, 1);
  edge(EventKind::kRangeStart, "other category", 12, 1, 2);
  edge(EventKind::kRangeStart, "inner", 13, 1, 1);
  run.thread(2, 2);
  edge(EventKind::kRangeStart, "other process", 14, 1, 1);
  run.thread(1, 9);
  edge(EventKind::kRangeEnd, "", 20, 1, 1);
  edge(EventKind::kRangeEnd, "", 30, 1, 1);
  edge(EventKind::kRangeEnd, "", 40, 1, 0);  // NVTX's end: of any category
  edge(EventKind::kRangeEnd, "", 50, 1, 0);
  edge(EventKind::kRangeEnd, "", 60, 2, 1);
  run.thread(2, 3);
  edge(EventKind::kRangeEnd, "", 70, 1, 1);
  const Rebuilt rebuilt(run);
  const auto end = [&](const char* name) {
    return rebuilt.chains.nodes.end_ns[rebuilt.node(name)];
  };
  EXPECT_EQ(end("inner"), 20);
  EXPECT_EQ(end("outer"), 30);
  EXPECT_EQ(end("other category"), 40);
  EXPECT_EQ(end("other domain"), 60);
  EXPECT_EQ(end("other process"), 70);
  EXPECT_EQ(rebuilt.counter("ends_without_start"), 1u);
  EXPECT_EQ(rebuilt.counter("open_items"), 0u);
}

TEST(Nesting, ARuntimeCallHoldsTheDriverCallOfItsInterval) {
  for (const std::int64_t end : {10, 20}) {
    RunBuilder run;
    run.range("op", 0, 30, kFlagOperator);
    EventRecord driver = run.make(EventKind::kApiCall, "cuLaunchKernel", 10, end);
    driver.flags = kFlagHasCorrelation | kFlagDriver;
    driver.correlation = 2;
    run.add(driver).call("cudaLaunchKernel", 10, end, 1);
    const Rebuilt rebuilt(run);
    EXPECT_EQ(rebuilt.parent("cuLaunchKernel"), "cudaLaunchKernel") << end;
    EXPECT_EQ(rebuilt.parent("cudaLaunchKernel"), "op") << end;
  }
}

TEST(Nesting, CallsOfNoTimeFollowEachOtherAndBelongToTheRangeThatEndsThere) {
  RunBuilder run;
  run.range("op", 0, 30, kFlagOperator).call("first", 10, 10, 1).call("second", 10, 10, 2);
  run.call("last", 30, 30, 3).range("next", 50, 60).call("early", 50, 50, 4);
  const Rebuilt rebuilt(run);
  EXPECT_EQ(rebuilt.parent("first"), "op");
  EXPECT_EQ(rebuilt.parent("second"), "op");
  EXPECT_EQ(rebuilt.parent("last"), "op");
  EXPECT_EQ(rebuilt.parent("early"), "next");
}

TEST(Nesting, TheSameCallTwiceIsFoundWhateverStandsBetween) {
  RunBuilder run;
  for (int round = 0; round < 2; ++round) {
    run.call("cudaLaunchKernel", 10, 20, 1).call("cudaMemcpyAsync", 10, 20, 2);
    run.call("cudaEventRecord", 30, 30, 3);
  }
  const Rebuilt rebuilt(run);
  EXPECT_EQ(rebuilt.records("duplicates"), 3u);
  EXPECT_EQ(rebuilt.counter("calls"), 3u);
}

TEST(Nesting, MarksAreInstantsUnderTheInnermostRange) {
  RunBuilder run;
  run.range("a", 10, 30).range("b", 15, 20).add(run.make(EventKind::kMark, "here", 20, 20));
  const Rebuilt rebuilt(run);
  EXPECT_EQ(rebuilt.parent("here"), "b");
  EXPECT_TRUE(rebuilt.has("here", kNodeMark));
}

TEST(Nesting, SiblingsStandInStartOrder) {
  RunBuilder run;
  run.range("root", 0, 100).range("c", 50, 60).range("a", 10, 20).range("b", 30, 40);
  const Rebuilt rebuilt(run);
  EXPECT_LT(rebuilt.node("a"), rebuilt.node("b"));
  EXPECT_LT(rebuilt.node("b"), rebuilt.node("c"));
}

}  // namespace
}  // namespace teller
