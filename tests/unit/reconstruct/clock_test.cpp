// Sources of one run share one clock.
#include "run_builder.h"

namespace teller {
namespace {

TEST(Clock, ImportsAreShiftedToTheFirstSourcesClock) {
  RunBuilder run;
  run.source(R"({"dialect":"kineto","clock":{"base":"relative","unix_offset_ns":1000}})");
  run.range("a", 10, 20);
  run.source(R"({"dialect":"kineto","clock":{"base":"relative","unix_offset_ns":1500}})");
  run.range("b", 10, 20);
  const Rebuilt rebuilt(run);
  EXPECT_EQ(rebuilt.chains.nodes.begin_ns[rebuilt.node("a")], 10);
  EXPECT_EQ(rebuilt.chains.nodes.begin_ns[rebuilt.node("b")], 510);
}

TEST(Clock, ProcessesOfOneHostKeepTheirMonotonicTimes) {
  RunBuilder run;
  run.source(R"({"pid":1,"clock":{"base":"CLOCK_MONOTONIC","unix_offset_ns":1000000000000}})");
  run.range("a", 10, 20);
  run.source(R"({"pid":2,"clock":{"base":"CLOCK_MONOTONIC","unix_offset_ns":1000000000777}})");
  run.range("b", 10, 20);
  const Rebuilt rebuilt(run);
  EXPECT_EQ(rebuilt.chains.nodes.begin_ns[rebuilt.node("b")], 10);
}

TEST(Clock, UnknownClocksAreCounted) {
  RunBuilder run;
  run.source(R"({"dialect":"kineto","clock":{"unix_offset_ns":null}})").range("a", 10, 20);
  const Rebuilt rebuilt(run);
  EXPECT_EQ(rebuilt.counter("clocks_unknown"), 1u);
}

}  // namespace
}  // namespace teller
