#include "vertical/device_idle.h"

#include <gtest/gtest.h>

#include "../reconstruct/run_builder.h"
#include "vertical/vertical.h"

namespace teller {
namespace {

using vertical_detail::DeviceIdle;
using vertical_detail::IdleCause;
using vertical_detail::measure_device_idle;

// Steps of 1000 ns: `waiting` ns in a range of this name, then a launch whose kernel runs to the
// end.
void add_steps(RunBuilder& run, const std::string& name, std::int64_t waiting, int count) {
  for (int step = 0; step < count; ++step) {
    const std::int64_t begin = 1000 * step;
    run.range("ProfilerStep#" + std::to_string(step), begin, begin + 1000);
    run.range(name, begin, begin + waiting).range("aten::stack", begin + 1, begin + 20);
    run.call("cudaLaunchKernel", begin + waiting, begin + waiting + 5, 100 + step);
    run.kernel("gemm", begin + waiting, begin + 1000, 100 + step);
  }
}

TEST(DeviceIdle, BelongsToTheRangeThatItFallsInto) {
  RunBuilder run;
  add_steps(run, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 400, 4);
  const Rebuilt rebuilt(run);
  const DeviceIdle idle = measure_device_idle(rebuilt.chains);
  EXPECT_EQ(idle.steps, 4U);
  EXPECT_EQ(idle.wall_ns, 4000);
  EXPECT_EQ(idle.idle_ns, 1600);
  ASSERT_EQ(idle.shares.size(), 1U);
  EXPECT_EQ(idle.shares[0].cause, IdleCause::kDataLoading);
  EXPECT_EQ(idle.shares[0].idle_ns, 1600);
  EXPECT_EQ(idle.shares[0].steps, 4U);
}

TEST(DeviceIdle, OverlappingKernelsLeaveOneGap) {
  RunBuilder run;
  run.range("ProfilerStep#1", 0, 1000).range("work", 0, 900);
  run.call("cudaLaunchKernel", 0, 1, 1).call("cudaLaunchKernel", 2, 3, 2);
  run.kernel("a", 100, 500, 1).kernel("b", 300, 800, 2);
  const Rebuilt rebuilt(run);
  const DeviceIdle idle = measure_device_idle(rebuilt.chains);
  EXPECT_EQ(idle.idle_ns, 300);
  ASSERT_EQ(idle.shares.size(), 1U);
  EXPECT_EQ(idle.shares[0].idle_ns, 100);  // the end of the step is in no range
  EXPECT_EQ(idle.shares[0].cause, IdleCause::kOther);
}

// Kernels of one step run during the next one, whose host loads data meanwhile.
TEST(DeviceIdle, AHostThatRunsAheadLeavesNoDeviceIdle) {
  RunBuilder run;
  for (int step = 0; step < 4; ++step) {
    const std::int64_t begin = 1000 * step;
    run.range("ProfilerStep#" + std::to_string(step), begin, begin + 1000);
    run.range("enumerate(DataLoader)#next", begin, begin + 240);
    run.call("cudaLaunchKernel", begin + 245, begin + 250, 100 + step);
    run.kernel("gemm", begin + 250, begin + 1250, 100 + step);
  }
  const DeviceIdle idle = measure_device_idle(Rebuilt(run).chains);
  EXPECT_EQ(idle.steps, 4U);
  EXPECT_EQ(idle.idle_ns, 250);  // of the first step alone
}

// Two devices of one process, of which the second does nothing for most of each step: it is idle
// though the first is busy.
TEST(DeviceIdle, EachDeviceCountsForItself) {
  RunBuilder run;
  for (int step = 0; step < 4; ++step) {
    const std::int64_t begin = 1000 * step;
    const auto number = static_cast<std::uint64_t>(2 * step);
    run.range("ProfilerStep#" + std::to_string(step), begin, begin + 1000);
    run.range("enumerate(DataLoader)#next", begin + 10, begin + 990);
    run.call("cudaLaunchKernel", begin, begin + 4, 100 + number);
    run.call("cudaLaunchKernel", begin + 5, begin + 9, 101 + number);
    run.kernel("gemm", begin, begin + 1000, 100 + number, 0, 0);
    run.kernel("gemm", begin, begin + 200, 101 + number, 0, 1);
  }
  const DeviceIdle idle = measure_device_idle(Rebuilt(run).chains);
  EXPECT_EQ(idle.steps, 4U);
  EXPECT_EQ(idle.wall_ns, 8000);
  EXPECT_EQ(idle.idle_ns, 3200);
  ASSERT_EQ(idle.shares.size(), 1U);
  EXPECT_EQ(idle.shares[0].idle_ns, 3200);
  EXPECT_EQ(idle.shares[0].steps, 4U);
}

nlohmann::ordered_json diagnosed(RunBuilder& run) {
  const Rebuilt rebuilt(run);
  auto with = with_device_idle(run.folder(), {{"explanation", "The run is healthy."}});
  EXPECT_TRUE(with.ok());
  return *with;
}

TEST(DeviceIdle, ADiagnosisSaysWhatStarvesTheDevice) {
  RunBuilder slow;
  add_steps(slow, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 400, 4);
  const auto starved = diagnosed(slow);
  EXPECT_EQ(starved["device_idle"]["starved_by"], "data_loading");
  EXPECT_EQ(starved["device_idle"]["share"], 0.4);
  EXPECT_EQ(starved["evidence"].size(), 1U);
  EXPECT_NE(starved["explanation"].get<std::string>().find("idle for 40 %"), std::string::npos);

  RunBuilder quick;
  add_steps(quick, "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", 20, 4);
  EXPECT_TRUE(diagnosed(quick)["device_idle"]["starved_by"].is_null());

  RunBuilder other;  // idle, but by nothing that is known to starve
  add_steps(other, "think", 400, 4);
  EXPECT_TRUE(diagnosed(other)["device_idle"]["starved_by"].is_null());

  RunBuilder host;
  host.step("engine step", 0, 100);
  EXPECT_TRUE(diagnosed(host)["device_idle"].is_null());
}

}  // namespace
}  // namespace teller
