// Rows and requests from step records.
#include "run_builder.h"

namespace teller {
namespace {

// A step [begin, begin + 10) of engine "e" with this record's lists.
void step(RunBuilder& run, int number, const std::string& lists) {
  const std::int64_t begin = number * 100;
  run.step("engine step", begin, begin + 50).step("schedule", begin + 5, begin + 20);
  run.record(begin + 10,
             R"({"v":1,"engine":"e","step":)" + std::to_string(number) + "," + lists + "}");
}

struct Row {
  std::int64_t computed_fall;
  std::int64_t since_served;
};
Row row(const Rebuilt& rebuilt, std::uint32_t at) {
  return {rebuilt.chains.rows.computed_fall[at], rebuilt.chains.rows.since_served[at]};
}

TEST(Rows, HangUnderTheScheduleAndBelongToTheirRequest) {
  RunBuilder run;
  step(run, 0,
       R"("req":[["r1","prefill",1,30,0],["r2","decode",0,10,7]],"wait":[["r3",0,"grammar"]],)"
       R"("kv":[3,64],"tokens":[40,256],"seqs":[2,8])");
  const Rebuilt rebuilt(run);
  const Chains& chains = rebuilt.chains;
  ASSERT_EQ(chains.row_count(), 3u);
  EXPECT_EQ(chains.steps.row_count[0], 3u);
  const std::uint32_t node = chains.rows.node[0];
  EXPECT_EQ(rebuilt.name(node), "row:prefill");
  EXPECT_EQ(rebuilt.name(chains.nodes.parent[node]), "schedule");
  EXPECT_EQ(chains.nodes.flags[node], kNodeRow | kNodeSynthetic);
  EXPECT_EQ(chains.nodes.begin_ns[node], 10);
  EXPECT_EQ(chains.nodes.request[node], chains.rows.request[0]);
  EXPECT_EQ(rebuilt.name(chains.rows.node[2]), "row:waiting (grammar)");
  EXPECT_DOUBLE_EQ(chains.rows.share[0], 0.75);
  EXPECT_EQ(chains.rows.end_ns[0], 50);
  EXPECT_EQ(chains.steps.tokens[0], 40);
  EXPECT_EQ(chains.steps.context[0], 7);
  EXPECT_EQ(chains.steps.kv_free[0], 3);
  EXPECT_EQ(chains.steps.seq_limit[0], 8);
  EXPECT_EQ(rebuilt.records("links"), 1u);
}

TEST(Rows, KnowWhatCameBefore) {
  RunBuilder run;
  step(run, 0, R"("req":[["a","prefill",1,10,0]],"wait":[["b",0]])");
  step(run, 1, R"("req":[["a","decode",0,1,10]],"wait":[["b",0]])");
  step(run, 2, R"("req":[["b","prefill",1,8,0]],"preempt":[["a",11]],"wait":[["a",0]])");
  step(run, 3, R"("req":[["b","decode",0,1,8]],"wait":[["a",0]])");
  step(run, 4, R"("req":[["a","prefill",1,11,0],["b","decode",0,1,9]])");
  const Rebuilt rebuilt(run);
  const auto& rows = rebuilt.chains.rows;
  ASSERT_EQ(rebuilt.chains.row_count(), 10u);
  EXPECT_EQ(row(rebuilt, 1).since_served, 0);  // b, first seen
  EXPECT_EQ(row(rebuilt, 3).since_served, 1);  // b waits on
  EXPECT_EQ(row(rebuilt, 4).since_served, 2);  // b served at last
  EXPECT_EQ(rows.phase[5], static_cast<std::uint8_t>(RowPhase::kPreempted));
  EXPECT_EQ(row(rebuilt, 5).since_served, 0);    // a was served in the step before
  EXPECT_EQ(row(rebuilt, 7).computed_fall, 11);  // a lost its tokens
  EXPECT_EQ(row(rebuilt, 8).computed_fall, 11);
  EXPECT_EQ(row(rebuilt, 8).since_served, 2);
  const auto& requests = rebuilt.chains.requests;
  ASSERT_EQ(rebuilt.chains.request_count(), 2u);
  EXPECT_EQ(rebuilt.chains.string(requests.id[0]), "a");
  EXPECT_EQ(requests.first_scheduled_ns[0], 0);
  EXPECT_EQ(requests.first_token_ns[0], 50);
  EXPECT_EQ(requests.last_ns[0], 450);
  EXPECT_EQ(requests.steps[0], 3u);
  EXPECT_EQ(requests.waiting_steps[0], 1u);
  EXPECT_EQ(requests.preemptions[0], 1u);
  EXPECT_EQ(requests.prefill_tokens[0], 21);
  EXPECT_EQ(requests.decode_tokens[0], 1);
  EXPECT_EQ(requests.first_seen_ns[1], 10);
  EXPECT_EQ(requests.waiting_steps[1], 2u);
  EXPECT_EQ(requests.first_token_ns[1], 250);
}

TEST(Rows, ARangeThatNamesARequestOwnsWhatIsBelow) {
  RunBuilder run;
  run.step("engine step", 0, 100).range("attention request=r9", 10, 50);
  run.call("cudaLaunchKernel", 20, 30, 1).kernel("attn", 30, 40, 1).range("mlp", 60, 70);
  const Rebuilt rebuilt(run);
  ASSERT_EQ(rebuilt.chains.request_count(), 1u);
  EXPECT_EQ(rebuilt.chains.nodes.request[rebuilt.node("attn")], 0u);
  EXPECT_EQ(rebuilt.chains.nodes.request[rebuilt.node("mlp")], kNoIndex);
  EXPECT_EQ(rebuilt.chains.requests.first_seen_ns[0], 10);
  EXPECT_EQ(rebuilt.chains.requests.first_scheduled_ns[0], -1);
}

TEST(Rows, BadAndNewerRecordsAreCounted) {
  RunBuilder run;
  run.step("engine step", 0, 100).record(10, "{").record(20, R"({"v":9,"engine":"e","req":[]})");
  run.record(200, R"({"v":1,"engine":"e","req":[["a","decode",0,1,1]]})");
  const Rebuilt rebuilt(run);
  EXPECT_EQ(rebuilt.counter("step_records_unreadable"), 1u);
  EXPECT_EQ(rebuilt.counter("step_records_newer"), 1u);
  EXPECT_EQ(rebuilt.counter("step_records_outside"), 1u);
  EXPECT_EQ(rebuilt.records("malformed"), 1u);
  EXPECT_EQ(rebuilt.records("unknown"), 1u);
  EXPECT_EQ(rebuilt.chains.row_count(), 1u);
}

TEST(Rows, WaitingRequestsAreThoseOfTheRecordReferredTo) {
  RunBuilder run;
  run.step("engine step", 0, 100);
  run.record(10, R"({"v":1,"engine":"e","n":1,"req":[["a","decode",0,1,1]],"wait":[["b",0]]})");
  run.step("engine step", 100, 200);
  run.record(110, R"({"v":2,"engine":"e","req":[["a","decode",0,1,2]],"wait":1})");
  run.step("engine step", 200, 300);
  run.record(210, R"({"v":2,"engine":"other","req":[["c","decode",0,1,2]],"wait":1})");
  const Rebuilt rebuilt(run);
  EXPECT_EQ(rebuilt.chains.row_count(), 5u);
  EXPECT_EQ(rebuilt.chains.requests.waiting_steps[1], 2u);
  EXPECT_EQ(rebuilt.counter("step_records_without_wait"), 1u);
}

TEST(Rows, WhatServerAndEngineCallDifferentlyIsOneRequest) {
  RunBuilder run;
  run.range("AsyncLLM.generate request=cmpl-a-0", 0, 500);
  run.range("AsyncLLM.generate request=cmpl-b-0", 600, 700);
  run.range("AsyncLLM.generate request=lonely", 800, 900);
  run.source(R"({"dialect":"capture","pid":2})").thread(2, 2).step("engine step", 100, 200);
  run.record(110,
             R"({"v":1,"engine":"e","req":[["cmpl-a-0-0123abcd","prefill",1,4,0],)"
             R"(["cmpl-b-0-00000001","prefill",1,4,0],["cmpl-b-0-00000002","prefill",1,4,0]]})");
  const Rebuilt rebuilt(run);
  EXPECT_EQ(rebuilt.counter("request_names_joined"), 1u);  // b could be either
  ASSERT_EQ(rebuilt.chains.request_count(), 5u);
  const auto& requests = rebuilt.chains.requests;
  const std::uint32_t request =
      rebuilt.chains.nodes.request[rebuilt.node("AsyncLLM.generate request=cmpl-a-0")];
  EXPECT_EQ(rebuilt.chains.string(requests.id[request]), "cmpl-a-0-0123abcd");
  EXPECT_EQ(requests.first_seen_ns[request], 0);
  EXPECT_EQ(requests.first_scheduled_ns[request], 100);
  EXPECT_EQ(requests.prefill_tokens[request], 4);
}

constexpr const char* kOneRow = R"({"v":1,"engine":"e","req":[["a","decode",0,1,1]]})";

TEST(Rows, ARecordOutsideEveryStepMakesAStepOfTheRangeAroundIt) {
  RunBuilder run;
  run.range("serve", 0, 1000);
  for (const std::int64_t begin : {100, 300}) {
    run.range("schedule", begin, begin + 50).record(begin + 10, kOneRow);
    run.call("cudaLaunchKernel", begin + 20, begin + 30, begin + 1);
  }
  run.record(400, "{").record(410, R"({"v":9,"engine":"e","req":[]})");
  const Rebuilt rebuilt(run);
  const Chains& chains = rebuilt.chains;
  ASSERT_EQ(chains.step_count(), 2u);
  ASSERT_EQ(chains.row_count(), 2u);
  EXPECT_EQ(rebuilt.name(chains.steps.root[1]), "schedule");
  EXPECT_EQ(chains.layer(chains.steps.root[1]), Layer::kStep);
  EXPECT_EQ(chains.steps.node_count[1], 3u);
  EXPECT_EQ(chains.rows.end_ns[1], 350);
  EXPECT_EQ(rebuilt.parent("serve"), "outside pid 1");
  EXPECT_EQ(rebuilt.counter("step_records_outside"), 2u);
  EXPECT_EQ(rebuilt.counter("step_records_unreadable"), 1u);
  EXPECT_EQ(rebuilt.counter("step_records_newer"), 1u);
}

TEST(Rows, ARecordWithoutARangeOfItsOwnIsAStepItself) {
  RunBuilder run;
  run.range("serve", 0, 1000).record(100, kOneRow).record(200, kOneRow);
  run.step("engine step", 300, 400);
  run.range("around a step", 500, 600).step("inner step", 510, 550).record(560, kOneRow);
  run.thread(1, 2).record(700, kOneRow);
  const Rebuilt rebuilt(run);
  const Chains& chains = rebuilt.chains;
  ASSERT_EQ(chains.step_count(), 6u);
  ASSERT_EQ(chains.row_count(), 4u);
  EXPECT_EQ(rebuilt.name(chains.steps.root[0]), "step");
  EXPECT_TRUE(rebuilt.has("step", kNodeSynthetic));
  EXPECT_EQ(chains.steps.begin_ns[1], 200);
  EXPECT_EQ(chains.nodes.parent[chains.rows.node[0]], chains.steps.root[0]);
  EXPECT_EQ(chains.steps.schedule[0], chains.steps.root[0]);
  EXPECT_EQ(rebuilt.name(chains.steps.root[3]), "inner step");
  EXPECT_EQ(rebuilt.counter("step_records_outside"), 4u);
}

TEST(Rows, TheFirstTokenOfASingleTokenAnswerComesWithThePrefill) {
  RunBuilder run;
  step(run, 0, R"("req":[["one","prefill",1,10,0],["cut","prefill",1,9,0]])");
  step(run, 1, R"("req":[["chunks","prefill",1,10,0]],"wait":[["cut",9]])");
  step(run, 2, R"("req":[["chunks","prefill",0,5,10],["mid","decode",0,1,50]])");
  step(run, 3, R"("req":[["lost","prefill",1,10,0]],"preempt":[["mid",51]])");
  step(run, 4, R"("req":[["mid","prefill",1,51,0]],"preempt":[["lost",10]])");
  step(run, 5, R"("req":[["mid","decode",0,1,51]])");
  run.push("engine step", 600, "teller", "STEP");
  run.record(610, R"({"v":1,"engine":"e","req":[["hangs","prefill",1,10,0]]})");
  const Rebuilt rebuilt(run);
  const auto first_token = [&](std::string_view id) {
    for (std::uint32_t at = 0; at < rebuilt.chains.request_count(); ++at) {
      if (rebuilt.chains.string(rebuilt.chains.requests.id[at]) == id) {
        return rebuilt.chains.requests.first_token_ns[at];
      }
    }
    return std::int64_t{-2};
  };
  EXPECT_EQ(first_token("one"), 50);
  EXPECT_EQ(first_token("cut"), -1) << "waits for the rest of its prefill";
  EXPECT_EQ(first_token("chunks"), 250);
  EXPECT_EQ(first_token("mid"), -1) << "its first token came before the capture";
  EXPECT_EQ(first_token("lost"), -1);
  EXPECT_EQ(first_token("hangs"), -1) << "the step has not made it yet";
}

}  // namespace
}  // namespace teller
