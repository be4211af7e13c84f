// Log lines are aligned to requests and steps, and the rule is kept.
#include "run_builder.h"

namespace teller {
namespace {

class Logs : public testing::Test {
 protected:
  Logs() {
    for (int i = 0; i < 3; ++i) {
      const std::int64_t begin = 1000 * i;
      run_.step("engine step", begin, begin + 500);
      run_.record(begin + 10, R"({"v":1,"engine":"e","req":[["req-)" + std::to_string(i) +
                                  R"(","prefill",1,4,0]]})");
    }
  }

  RunBuilder run_;
};

TEST_F(Logs, EachRuleHasItsCase) {
  run_.log(R"({"t":100,"stream":"stdout","pid":1,"text":"INFO 01-01 00:00:00 a.py:1] hello"})");
  run_.log(R"({"t":2100,"stream":"stdout","pid":1,"text":"finished req-0 in 3 ms"})");
  run_.log(R"({"t":1600,"stream":"stdout","pid":1,"text":"between"})");
  run_.log(R"({"t":9000,"stream":"stdout","pid":1,"text":"far away"})");
  run_.log(R"({"t":null,"stream":"x.log","pid":1,"text":"no time"})");
  run_.log(R"({"t":null,"stream":"x.log","pid":1,"text":"no time, but req-1"})");
  ReconstructOptions options;
  options.log_window_ns = 1000;
  const Rebuilt rebuilt(run_, options);
  const auto& logs = rebuilt.chains.logs;
  ASSERT_EQ(rebuilt.chains.log_count(), 6u);
  const auto rule = [&](int line) { return static_cast<LogRule>(logs.rule[line]); };
  EXPECT_EQ(rule(0), LogRule::kInFlight);
  EXPECT_EQ(rebuilt.chains.string(logs.level[0]), "INFO");
  EXPECT_EQ(rule(1), LogRule::kRequest);
  EXPECT_EQ(logs.step[1], 0u) << "the request's own step, not the one in flight";
  EXPECT_EQ(rule(2), LogRule::kNearest);
  EXPECT_EQ(logs.step[2], 1u);
  EXPECT_EQ(rule(3), LogRule::kNone);
  EXPECT_EQ(rule(4), LogRule::kNone);
  EXPECT_EQ(rule(5), LogRule::kRequest);
  EXPECT_EQ(logs.step[5], 1u);
  EXPECT_EQ(rebuilt.counter("logs_unaligned"), 2u);
}

TEST_F(Logs, TracebacksFollowTheirFirstLine) {
  run_.log(R"({"t":100,"stream":"stderr","pid":1,"text":"ERROR: req-2 failed"})");
  run_.log(R"({"t":101,"stream":"stderr","pid":1,"text":"  File \"x.py\", line 3"})");
  run_.log(R"({"t":102,"stream":"stdout","pid":1,"text":"  other stream"})");
  run_.log(R"({"t":103,"stream":"stderr","pid":1,"text":"RuntimeError: boom"})");
  run_.log(R"({"t":104,"stream":"stderr","pid":1,"text":"unrelated"})");
  run_.log(R"({"t":104,"stream":"stderr","pid":1,"text":"the rest","cont":1})");
  const Rebuilt rebuilt(run_);
  const auto& logs = rebuilt.chains.logs;
  for (const int line : {0, 1, 3}) {
    EXPECT_EQ(logs.step[line], 2u) << line;
    EXPECT_EQ(rebuilt.chains.string(logs.level[line]), "ERROR") << line;
  }
  for (const int line : {2, 4, 5}) EXPECT_EQ(logs.step[line], 0u) << line;
}

TEST_F(Logs, LinesAddToRequests) {
  run_.log(R"({"t":0,"stream":"stdout","pid":1,"text":"received req-1"})");
  run_.log(R"({"t":700,"stream":"stdout","pid":1,"text":"Request other-7 aborted."})");
  const Rebuilt rebuilt(run_);
  const auto& requests = rebuilt.chains.requests;
  ASSERT_EQ(rebuilt.chains.request_count(), 4u);
  EXPECT_EQ(requests.first_seen_ns[1], 0);
  EXPECT_EQ(rebuilt.chains.string(requests.id[3]), "other-7");
  EXPECT_EQ(requests.first_seen_ns[3], 700);
  EXPECT_EQ(requests.steps[3], 0u);
}

TEST_F(Logs, ProseAddsNoRequest) {
  run_.log(R"({"t":1,"text":"Request 12.5 ms"})").log(R"({"t":1,"text":"Request http2 frame"})");
  run_.log(R"({"t":1,"text":"processed request 2024-01-01 v1.2"})");
  EXPECT_EQ(Rebuilt(run_).chains.request_count(), 3u);
}

TEST_F(Logs, ImpossibleTimesAreClamped) {
  run_.log(R"({"t":9223372036854775807,"text":"a"})")
      .log(R"({"t":-9223372036854775808,"text":"b"})");
  const Rebuilt rebuilt(run_);
  ASSERT_EQ(rebuilt.chains.log_count(), 2u);
  EXPECT_EQ(rebuilt.chains.logs.time_ns[0], kTimeLimitNs);
  EXPECT_EQ(rebuilt.chains.logs.time_ns[1], -1);
  EXPECT_EQ(rebuilt.counter("times_clamped"), 1u);
}

TEST(LogSteps, TheStepOfTheLinesProcessIsFoundAmongManyOthers) {
  RunBuilder run;
  run.thread(7, 7).step("own", 0, 1000);
  for (int i = 0; i < 40; ++i) run.thread(100 + i, 1).step("other", 10 + i, 900);
  run.log(R"({"t":500,"pid":7,"text":"a line"})").log(R"({"t":950,"pid":1,"text":"a line"})");
  const Rebuilt rebuilt(run);
  EXPECT_EQ(rebuilt.chains.logs.step[0], 0u);
  EXPECT_EQ(rebuilt.chains.logs.step[1], 0u);
  EXPECT_EQ(rebuilt.counter("logs_in_flight"), 2u);
}

TEST_F(Logs, BrokenLinesAreCounted) {
  run_.log("not json").log("[1]").log(R"({"t":1})").log(R"({"text":"fine"})");
  const Rebuilt rebuilt(run_);
  EXPECT_EQ(rebuilt.counter("log_lines_malformed"), 3u);
  EXPECT_EQ(rebuilt.records("log_lines"), 1u);
}

}  // namespace
}  // namespace teller
