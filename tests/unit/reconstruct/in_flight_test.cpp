// Launches whose work never came to its end.
#include "run_builder.h"

namespace teller {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

void sign_of_life(RunBuilder& run, std::int64_t time) {
  run.add(run.make(EventKind::kCounter, "memory", time, time));
}

// One launch that is answered, then two that are not; the process lives on for `after_ns`.
RunBuilder& hang(RunBuilder& run, std::int64_t after_ns) {
  run.range("engine step", 0, 500);
  run.range("aten::mm", 10, 90, kFlagOperator).call("cudaLaunchKernel", 20, 30, 1);
  run.kernel("gemm", 40, 60, 1);
  run.range("aten::add", 100, 190, kFlagOperator).call("cudaLaunchKernel", 120, 130, 2);
  run.range("aten::mul", 200, 290, kFlagOperator).call("cudaGraphLaunch", 220, 230, 3);
  sign_of_life(run, after_ns);
  return run;
}

TEST(InFlight, LaunchesThatNothingAnsweredAreOpenUnderTheirCalls) {
  RunBuilder run;
  const Rebuilt rebuilt(hang(run, 2 * kSecond));
  EXPECT_EQ(rebuilt.counter("launches"), 3u);
  EXPECT_EQ(rebuilt.counter("launches_in_flight"), 2u);
  EXPECT_EQ(rebuilt.counter("without_call"), 0u);
  ASSERT_NE(rebuilt.node("kernel in flight"), kNoIndex);
  ASSERT_NE(rebuilt.node("graph in flight"), kNoIndex);
  EXPECT_EQ(rebuilt.parent("kernel in flight"), "cudaLaunchKernel");
  EXPECT_EQ(rebuilt.parent("graph in flight"), "cudaGraphLaunch");
  EXPECT_TRUE(rebuilt.has("kernel in flight", kNodeOpen));
  EXPECT_TRUE(rebuilt.has("kernel in flight", kNodeSynthetic));
  EXPECT_EQ(rebuilt.chains.layer(rebuilt.node("kernel in flight")), Layer::kKernel);
  EXPECT_EQ(rebuilt.chains.nodes.end_ns[rebuilt.node("kernel in flight")], 2 * kSecond);
}

TEST(InFlight, TheReportNamesFirstAndLastLaunchAndTheCallThatWaits) {
  RunBuilder run;
  hang(run, 10'000);
  run.call("cudaStreamSynchronize", 300, kOpenNs, 4);
  const Rebuilt rebuilt(run);
  EXPECT_EQ(rebuilt.counter("launches_in_flight"), 2u);  // young, but a call waits for them
  const auto& open = rebuilt.report["in_flight"];
  ASSERT_EQ(open["streams"].size(), 1u);
  EXPECT_EQ(open["streams"][0]["launches"], 2);
  EXPECT_EQ(open["streams"][0]["first"]["in_range"], "aten::add");
  EXPECT_EQ(open["streams"][0]["last"]["in_range"], "aten::mul");
  ASSERT_EQ(open["waiting_calls"].size(), 1u);
  EXPECT_EQ(open["waiting_calls"][0]["name"], "cudaStreamSynchronize");
  EXPECT_NE(rebuilt.report["notes"][0].get<std::string>().find("never came to an end"),
            std::string::npos);
}

TEST(InFlight, ACaptureThatEndsRightAfterALaunchIsNoHang) {
  RunBuilder run;
  const Rebuilt rebuilt(hang(run, 10'000));
  EXPECT_EQ(rebuilt.counter("launches_in_flight"), 0u);
  EXPECT_EQ(rebuilt.counter("launches_at_end"), 2u);
  EXPECT_EQ(rebuilt.node("kernel in flight"), kNoIndex);
  EXPECT_FALSE(rebuilt.report.contains("in_flight"));
}

TEST(InFlight, WhatTheDeviceWasWaitedForHadEnded) {
  RunBuilder run;
  hang(run, 2 * kSecond);
  run.call("cudaDeviceSynchronize", 400, 450, 5);
  const Rebuilt rebuilt(run);
  EXPECT_EQ(rebuilt.counter("launches_in_flight"), 0u);
  EXPECT_EQ(rebuilt.counter("launches_without_activity"), 2u);
}

TEST(InFlight, LaunchesIntoAGraphRunNothing) {
  RunBuilder run;
  run.call("cudaLaunchKernel", 5, 6, 9).kernel("k", 7, 8, 9);
  run.call("cudaStreamBeginCapture", 10, 11, 1).call("cudaLaunchKernel", 20, 30, 2);
  run.call("cudaStreamEndCapture", 40, 41, 3);
  sign_of_life(run, 3 * kSecond);
  const Rebuilt rebuilt(run);
  EXPECT_EQ(rebuilt.counter("launches_into_graphs"), 1u);
  EXPECT_EQ(rebuilt.counter("launches_in_flight"), 0u);
}

TEST(InFlight, ATraceWithoutAnyDeviceActivityIsNoHang) {
  RunBuilder run;
  run.call("cudaLaunchKernel", 20, 30, 1);
  sign_of_life(run, 5 * kSecond);
  const Rebuilt rebuilt(run);
  EXPECT_EQ(rebuilt.counter("launches_in_flight"), 0u);
  EXPECT_EQ(rebuilt.counter("launches_without_device"), 1u);
}

// A call that names its stream, as HIP's do.
EventRecord named_call(RunBuilder& run, const char* name, std::int64_t begin, std::uint64_t id,
                       const char* stream) {
  EventRecord call = run.make(EventKind::kApiCall, name, begin, begin + 5);
  call.flags = kFlagHasCorrelation;
  call.correlation = id;
  call.attrs = run.text(std::string(R"({"kernel":"foo","stream":)") + stream + "}");
  return call;
}

// A kernel on another stream than RunBuilder::kernel()'s.
void side_kernel(RunBuilder& run, const char* name, std::int64_t begin, std::int64_t end,
                 std::uint64_t id) {
  EventRecord kernel = run.make(EventKind::kKernel, name, begin, end);
  kernel.flags = kFlagHasCorrelation;
  kernel.correlation = id;
  TrackRecord track;
  track.kind = static_cast<std::uint32_t>(TrackKind::kDeviceStream);
  track.pid = 1;
  track.device = 0;
  track.stream = 20;
  kernel.track = run.track(track);
  run.add(kernel);
}

TEST(InFlight, AnEarlyRecordThatWasLostIsNoHangWhereLaterWorkEnded) {
  for (const char* lost : {"cudaLaunchKernel", "cudaGraphLaunch"}) {
    RunBuilder run;
    run.call(lost, 10, 15, 1);
    run.call("cudaLaunchKernel", 20, 25, 2).kernel("k", 30, 40, 2);
    sign_of_life(run, 3 * kSecond);
    const Rebuilt rebuilt(run);
    EXPECT_EQ(rebuilt.counter("launches_in_flight"), 0u) << lost;
    EXPECT_EQ(rebuilt.counter("launches_without_activity"), 1u) << lost;
  }
}

TEST(InFlight, WorkThatWasLaunchedBeforeProvesNothing) {
  RunBuilder run;
  run.call("cudaLaunchKernel", 10, 15, 1).call("cudaLaunchKernel", 20, 25, 2);
  run.kernel("k", 30, 40, 1);
  sign_of_life(run, 3 * kSecond);
  const Rebuilt rebuilt(run);
  EXPECT_EQ(rebuilt.counter("launches_in_flight"), 1u);
}

TEST(InFlight, OnlyTheStreamThatTheCallNamesProvesItsEnd) {
  for (const bool same : {true, false}) {
    RunBuilder run;
    run.add(named_call(run, "hipLaunchKernel", 10, 1, "7"));
    run.add(named_call(run, "hipLaunchKernel", 20, 2, same ? "7" : "8"));
    run.kernel("k", 30, 40, 2);
    sign_of_life(run, 3 * kSecond);
    const Rebuilt rebuilt(run);
    EXPECT_EQ(rebuilt.counter("launches_in_flight"), same ? 0u : 1u);
  }
}

TEST(InFlight, AWaitForItsStreamThatReturnedProvesItsEnd) {
  for (const bool same : {true, false}) {
    RunBuilder run;
    run.add(named_call(run, "hipLaunchKernel", 10, 1, "7")).kernel("k", 30, 40, 1);
    run.add(named_call(run, "hipLaunchKernel", 50, 2, "7"));
    run.add(named_call(run, "hipStreamSynchronize", 60, 3, same ? "7" : "8"));
    sign_of_life(run, 3 * kSecond);
    const Rebuilt rebuilt(run);
    EXPECT_EQ(rebuilt.counter("launches_in_flight"), same ? 0u : 1u);
  }
}

TEST(InFlight, AWaitForTheOnlyStreamThatReturnedProvesItsEnd) {
  RunBuilder run;
  hang(run, 3 * kSecond);
  run.call("cudaStreamSynchronize", 400, 450, 5);
  const Rebuilt rebuilt(run);
  EXPECT_EQ(rebuilt.counter("launches_in_flight"), 0u);
  EXPECT_EQ(rebuilt.counter("launches_without_activity"), 2u);
}

TEST(InFlight, AWaitForAnEventProvesNothing) {
  RunBuilder run;
  hang(run, 3 * kSecond);
  run.call("cudaEventSynchronize", 400, 450, 5);
  const Rebuilt rebuilt(run);
  EXPECT_EQ(rebuilt.counter("launches_in_flight"), 2u);
}

TEST(InFlight, ACollectiveHangsThoughTheStreamOfTheComputationGoesOn) {
  RunBuilder run;
  run.range("nccl:all_reduce", 0, 30, kFlagOperator).call("cudaLaunchKernel", 10, 15, 1);
  side_kernel(run, "ncclDevKernel", 20, 25, 1);
  run.range("nccl:all_reduce", 100, 130, kFlagOperator).call("cudaLaunchKernel", 110, 115, 2);
  run.range("aten::mm", 200, 230, kFlagOperator).call("cudaLaunchKernel", 210, 215, 3);
  run.kernel("gemm", 220, 240, 3);
  sign_of_life(run, 3 * kSecond);
  const Rebuilt rebuilt(run);
  EXPECT_EQ(rebuilt.counter("launches_in_flight"), 1u);
  const std::uint32_t node = rebuilt.node("kernel in flight");
  ASSERT_NE(node, kNoIndex);
  EXPECT_EQ(rebuilt.chains.nodes.begin_ns[node], 110);
}

TEST(InFlight, LaunchesOfOtherThreadsDuringACaptureRunNothing) {
  RunBuilder run;
  run.call("cudaLaunchKernel", 5, 6, 9).kernel("k", 7, 8, 9);
  run.call("cudaStreamBeginCapture", 10, 11, 1).call("cudaStreamEndCapture", 40, 41, 3);
  run.thread(1, 2).call("cudaLaunchKernel", 20, 30, 2).call("cudaLaunchKernel", 50, 60, 4);
  sign_of_life(run, 3 * kSecond);
  const Rebuilt rebuilt(run);
  EXPECT_EQ(rebuilt.counter("launches_into_graphs"), 1u);
  EXPECT_EQ(rebuilt.counter("launches_in_flight"), 1u);
}

TEST(InFlight, ACaptureWithoutAnEndHidesNoOtherThreadsHang) {
  RunBuilder run;
  run.call("cudaLaunchKernel", 5, 6, 9).kernel("k", 7, 8, 9);
  run.call("cudaStreamBeginCapture", 10, 11, 1).call("cudaLaunchKernel", 20, 30, 2);
  run.thread(1, 2).call("cudaLaunchKernel", 20, 30, 3);
  sign_of_life(run, 3 * kSecond);
  const Rebuilt rebuilt(run);
  EXPECT_EQ(rebuilt.counter("launches_into_graphs"), 1u);
  EXPECT_EQ(rebuilt.counter("launches_in_flight"), 1u);
}

TEST(InFlight, ACaptureThatDidNotBeginHoldsNothing) {
  RunBuilder run;
  run.call("cudaLaunchKernel", 5, 6, 9).kernel("k", 7, 8, 9);
  EventRecord begin = run.make(EventKind::kApiCall, "cudaStreamBeginCapture", 10, 11);
  begin.flags = kFlagFailed;
  run.add(begin).call("cudaLaunchKernel", 20, 30, 2);
  sign_of_life(run, 3 * kSecond);
  const Rebuilt rebuilt(run);
  EXPECT_EQ(rebuilt.counter("launches_into_graphs"), 0u);
  EXPECT_EQ(rebuilt.counter("launches_in_flight"), 1u);
}

TEST(InFlight, LostRecordsProveNothing) {
  RunBuilder run;
  run.source(R"({"dialect":"capture","pid":1,"counts":{"dropped":3}})");
  const Rebuilt rebuilt(hang(run, 2 * kSecond));
  EXPECT_EQ(rebuilt.counter("launches_in_flight"), 0u);
  EXPECT_EQ(rebuilt.report["sources"][0]["losses"]["dropped"], 3);
}

TEST(InFlight, TheDriversCallInsideTheRuntimesIsNoLaunchOfItsOwn) {
  RunBuilder run;
  run.call("cudaLaunchKernel", 20, 40, 1);
  EventRecord inner = run.make(EventKind::kApiCall, "cuLaunchKernel", 25, 35);
  inner.flags = kFlagHasCorrelation | kFlagDriver;
  inner.correlation = 2;
  run.add(inner).kernel("k", 50, 60, 2);
  sign_of_life(run, 3 * kSecond);
  const Rebuilt rebuilt(run);
  EXPECT_EQ(rebuilt.counter("launches"), 1u);
  EXPECT_EQ(rebuilt.counter("launches_in_flight"), 0u);
}

TEST(InFlight, CallsThatNameKernelAndStreamLendThem) {
  RunBuilder run;
  run.call("hipLaunchKernel", 10, 12, 1).kernel("k", 20, 30, 1);
  EventRecord launch = run.make(EventKind::kApiCall, "hipLaunchKernel", 40, 42);
  launch.flags = kFlagHasCorrelation;
  launch.correlation = 2;
  launch.attrs = run.text(R"({"kernel":"Cijk_Alik_Bljk_MT16","stream":3})");
  run.add(launch);
  sign_of_life(run, 3 * kSecond);
  const Rebuilt rebuilt(run);
  const std::uint32_t node = rebuilt.node("Cijk_Alik_Bljk_MT16");
  ASSERT_NE(node, kNoIndex);
  EXPECT_EQ(rebuilt.chains.tracks.stream[rebuilt.chains.nodes.track[node]], 3);
}

TEST(InFlight, WorkInFlightIsNoBusyTime) {
  RunBuilder run;
  run.step("step", 0, 400);
  const Rebuilt rebuilt(hang(run, 2 * kSecond));
  ASSERT_EQ(rebuilt.chains.step_count(), 1u);
  EXPECT_EQ(rebuilt.chains.steps.device_busy_ns[0], 20);
}

}  // namespace
}  // namespace teller
