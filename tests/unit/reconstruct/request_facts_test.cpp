// Requests that spans name: joined with those of the engine's records, or new.
#include "reconstruct/log_ids.h"
#include "run_builder.h"

namespace teller {
namespace {

constexpr const char* kSpans = R"({"dialect":"otlp","clock":{"base":"unix","unix_offset_ns":0}})";

EventRecord span(RunBuilder& run, const std::string& name, const std::string& attrs) {
  EventRecord event = run.make(EventKind::kRange, name, 10, 100);
  event.flags = kFlagHasCorrelation;
  event.attrs = run.text(attrs);
  return event;
}

std::uint32_t request(const Rebuilt& rebuilt, std::string_view id) {
  for (std::uint32_t at = 0; at < rebuilt.chains.request_count(); ++at) {
    if (rebuilt.chains.string(rebuilt.chains.requests.id[at]) == id) return at;
  }
  return kNoIndex;
}

TEST(RequestFacts, StandAlone) {
  RunBuilder run;
  run.source(kSpans);
  run.add(span(run, "llm_request request=r-1",
               R"({"request":{"id":"r-1","scheduled_ns":20,"first_token_ns":30,"last_token_ns":90,)"
               R"("prompt_tokens":7,"completion_tokens":3}})"));
  const Rebuilt rebuilt(run);
  const std::uint32_t at = request(rebuilt, "r-1");
  ASSERT_NE(at, kNoIndex);
  const auto& requests = rebuilt.chains.requests;
  EXPECT_EQ(requests.first_seen_ns[at], 10);
  EXPECT_EQ(requests.first_scheduled_ns[at], 20);
  EXPECT_EQ(requests.first_token_ns[at], 30);
  EXPECT_EQ(requests.last_ns[at], 90);
  EXPECT_EQ(requests.prefill_tokens[at], 7);
  EXPECT_EQ(requests.decode_tokens[at], 3);
  EXPECT_EQ(rebuilt.counter("request_spans"), 1u);
  EXPECT_EQ(rebuilt.counter("request_spans_joined"), 0u);
}

TEST(RequestFacts, RecordsOfStepsSayMore) {
  RunBuilder run;
  run.source(R"({"dialect":"capture","pid":1,"clock":{"base":"x","unix_offset_ns":0}})");
  run.step("engine step", 40, 60)
      .record(45, R"({"v":1,"engine":"e","req":[["cmpl-my-req-0-871d72e8","prefill",1,5,0]]})");
  run.source(kSpans);
  run.add(span(run, "llm_request request=cmpl-my-req-0",
               R"({"request":{"id":"cmpl-my-req-0","scheduled_ns":20,"first_token_ns":30,)"
               R"("last_token_ns":90,"prompt_tokens":7,"completion_tokens":3}})"));
  const Rebuilt rebuilt(run);
  ASSERT_EQ(rebuilt.chains.request_count(), 1u);
  const auto& requests = rebuilt.chains.requests;
  EXPECT_EQ(rebuilt.chains.string(requests.id[0]), "cmpl-my-req-0-871d72e8");
  EXPECT_EQ(requests.first_scheduled_ns[0], 40);
  EXPECT_EQ(requests.prefill_tokens[0], 5);
  EXPECT_EQ(requests.decode_tokens[0], 0);
  EXPECT_EQ(rebuilt.counter("request_spans_joined"), 1u);
}

TEST(RequestFacts, WhatIsNoFactIsIgnored) {
  RunBuilder run;
  run.source(kSpans);
  run.add(span(run, "a request=r-1", R"({"request":{"id":"r-1","scheduled_ns":"x"}})"));
  run.add(span(run, "b request=r-2", R"({"request":{)"));
  run.add(span(run, "c", R"({"request":{"id":"r-3","scheduled_ns":5}})"));
  const Rebuilt rebuilt(run);
  EXPECT_EQ(rebuilt.chains.request_count(), 2u);
  EXPECT_EQ(rebuilt.chains.requests.first_scheduled_ns[0], -1);
  EXPECT_EQ(rebuilt.counter("request_spans"), 1u);
}

TEST(RequestMatcherSame, SpellingsOfOneId) {
  Interner ids;
  for (const char* id : {"cmpl-a-0-871d72e8", "chatcmpl-b-0123abcd", "7", "p-0-0123abcd",
                         "p-1-0123abcd", "plain-req"}) {
    ids.intern(id);
  }
  const RequestMatcher matcher(ids);
  EXPECT_EQ(matcher.same_request("cmpl-a-0-871d72e8"), 0u);
  EXPECT_EQ(matcher.same_request("cmpl-a-0"), 0u);
  EXPECT_EQ(matcher.same_request("chatcmpl-b"), 1u);
  EXPECT_EQ(matcher.same_request("7"), 2u);
  EXPECT_EQ(matcher.same_request("cmpl-plain-req-0"), 5u);
  EXPECT_EQ(matcher.same_request("p-0"), 3u);
  EXPECT_EQ(matcher.same_request("8"), kNoIndex);
  EXPECT_EQ(matcher.same_request("cmpl-7-0"), kNoIndex);  // a number may be anything
  EXPECT_EQ(matcher.same_request(""), kNoIndex);
}

}  // namespace
}  // namespace teller
