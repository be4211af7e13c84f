// Ranges of one thread that overlap without nesting, as many as there may be. No test asserts a
// time: compared with all that is open, each would take many minutes.
#include "run_builder.h"

namespace teller {
namespace {

constexpr std::int64_t kMany = 1'000'000;

TEST(Overlap, AMillionRangesThatOutlastEachOther) {
  RunBuilder run;
  for (std::int64_t i = 0; i < kMany; ++i) run.range("a", i, i + 2 * kMany);
  const Rebuilt rebuilt(run);
  EXPECT_EQ(rebuilt.counter("overlaps_clipped"), static_cast<std::uint64_t>(kMany - 1));
  EXPECT_EQ(rebuilt.chains.node_count(), static_cast<std::uint32_t>(kMany + 1));
}

// So close to the end of what is open that each might follow it, were it not too short.
TEST(Overlap, AMillionShortRangesAtTheEndOfDeepOnes) {
  RunBuilder run;
  for (std::int64_t i = 0; i < kMany / 2; ++i) run.range("deep", i, kMany, kFlagPython);
  for (std::int64_t i = 0; i < kMany / 2; ++i) {
    run.range("short", kMany - 500, kMany + i % 400, kFlagOperator);
  }
  const Rebuilt rebuilt(run);
  const std::int64_t within = kMany / 2 / 400;
  EXPECT_EQ(rebuilt.counter("overlaps_clipped"), static_cast<std::uint64_t>(kMany / 2 - within));
}

// An annotation that follows several at once ends the outermost of them, and all that is in it.
TEST(Overlap, WhatFollowsSeveralEndsAllOfThem) {
  RunBuilder run;
  run.range("outer", 0, 10'004).range("middle", 4'000, 10'003);
  run.range("short", 9'950, 10'003).range("inner", 9'960, 10'002);
  run.range("next", 10'000, 20'000);
  const Rebuilt rebuilt(run);
  for (const char* earlier : {"outer", "middle", "short", "inner"}) {
    EXPECT_EQ(rebuilt.chains.nodes.end_ns[rebuilt.node(earlier)], 10'000) << earlier;
  }
  EXPECT_EQ(rebuilt.parent("next"), rebuilt.parent("outer"));
  EXPECT_EQ(rebuilt.counter("overlaps_clipped"), 4u);
}

}  // namespace
}  // namespace teller
