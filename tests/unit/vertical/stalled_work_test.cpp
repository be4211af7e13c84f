#include "vertical/stalled_work.h"

#include <gtest/gtest.h>

#include "../reconstruct/run_builder.h"

namespace teller {
namespace {

using vertical_detail::find_stalled_streams;
using vertical_detail::StalledStream;

constexpr std::int64_t kSecond = 1'000'000'000;

TEST(StalledWork, OldestWorkOfAStreamThatStandsStill) {
  RunBuilder run;
  run.range("ProfilerStep#1", 0, 5 * kSecond);
  run.call("cudaLaunchKernel", 10, 20, 1).kernel("gemm", 30, kSecond, 1);
  run.call("cudaLaunchKernel", 40, 42, 2).call("cudaLaunchKernel", 50, 52, 3);
  const Rebuilt rebuilt(run);
  const auto streams = find_stalled_streams(rebuilt.chains);
  ASSERT_EQ(streams.size(), 1U);
  const Chains& chains = rebuilt.chains;
  EXPECT_EQ(chains.nodes.begin_ns[chains.nodes.parent[streams[0].first]], 40);
  EXPECT_EQ(chains.nodes.begin_ns[chains.nodes.parent[streams[0].last]], 50);
  EXPECT_EQ(streams[0].pieces, 2U);
  // It had to wait for gemm.
  EXPECT_EQ(streams[0].still_ns, 4 * kSecond);
}

TEST(StalledWork, WorkThatTheCaptureCutShortIsNone) {
  RunBuilder run;
  run.range("ProfilerStep#1", 0, 5 * kSecond);
  run.call("cudaLaunchKernel", 10, 20, 1).kernel("gemm", 30, 4 * kSecond + 1, 1);
  run.call("cudaLaunchKernel", 40, 42, 2);
  const Rebuilt rebuilt(run);
  EXPECT_TRUE(find_stalled_streams(rebuilt.chains).empty());
}

}  // namespace
}  // namespace teller
