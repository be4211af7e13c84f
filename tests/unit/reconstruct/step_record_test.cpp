#include "reconstruct/step_record.h"

#include <gtest/gtest.h>

namespace teller {
namespace {

TEST(StepRecord, ReadsTheDocumentedExample) {
  StepRecord record;
  ASSERT_EQ(
      parse_step_record(
          R"({"v":1,"engine":"demo","step":17,"req":[["req-3","prefill",1,32,0],)"
          R"(["req-1","decode",0,1,57]],"wait":[["req-4",0],["req-2",0]],"preempt":[["req-2",64]],)"
          R"("kv":[3,64],"tokens":[33,256],"seqs":[2,8]})",
          record),
      RecordOutcome::kGood);
  EXPECT_EQ(record.engine, "demo");
  EXPECT_EQ(record.step, 17);
  ASSERT_EQ(record.rows.size(), 4u);
  EXPECT_EQ(record.rows[0].id, "req-3");
  EXPECT_TRUE(record.rows[0].is_new);
  EXPECT_EQ(record.rows[1].computed, 57);
  EXPECT_EQ(record.rows[2].phase, RowPhase::kPreempted);
  EXPECT_EQ(record.rows[2].computed, 64);
  EXPECT_EQ(record.rows[3].id, "req-4");
  EXPECT_EQ(record.kv_free, 3);
  EXPECT_EQ(record.token_limit, 256);
  EXPECT_EQ(record.seqs, 2);
}

TEST(StepRecord, AWaitMayHaveAReasonAndMore) {
  StepRecord record;
  ASSERT_EQ(parse_step_record(R"({"v":1,"engine":"e","req":[["r","decode",0,1,5,"more"]],)"
                              R"("wait":[["a",0,"grammar",7],["b",0,7],["c",0]],)"
                              R"("preempt":[["d",4,"x"]]})",
                              record),
            RecordOutcome::kGood);
  EXPECT_EQ(record.malformed_entries, 0U);
  ASSERT_EQ(record.rows.size(), 5U);
  EXPECT_EQ(record.rows[1].id, "d");
  EXPECT_EQ(record.rows[1].reason, "");
  EXPECT_EQ(record.rows[2].reason, "grammar");
  EXPECT_EQ(record.rows[3].reason, "");
}

TEST(StepRecord, RefusesWhatItCannotRead) {
  StepRecord record;
  EXPECT_EQ(parse_step_record("{\"v\":1,", record), RecordOutcome::kUnreadable);
  EXPECT_EQ(parse_step_record("[]", record), RecordOutcome::kUnreadable);
  EXPECT_EQ(parse_step_record("{\"v\":1,\"req\":[]}", record), RecordOutcome::kUnreadable);
  EXPECT_EQ(parse_step_record(R"({"v":3,"engine":"e","req":[]})", record), RecordOutcome::kNewer);
}

TEST(StepRecord, LeavesOutBrokenEntriesAndCountsThem) {
  StepRecord record;
  ASSERT_EQ(parse_step_record(R"({"v":1,"engine":"e","req":[["a","decode",0,1,5],["b"],7,)"
                              R"(["c","decode",0,-1,5],["d","x",0,1,5]],"wait":[[3,4]],"kv":"x"})",
                              record),
            RecordOutcome::kGood);
  EXPECT_EQ(record.rows.size(), 1u);
  EXPECT_EQ(record.malformed_entries, 5u);
  EXPECT_EQ(record.kv_free, -1);
}

TEST(StepRecord, WaitMayReferToAnEarlierRecord) {
  const auto parsed = [](const char* text) {
    StepRecord record;
    EXPECT_EQ(parse_step_record(text, record), RecordOutcome::kGood) << text;
    return record;
  };
  WaitLists lists;
  StepRecord first = parsed(
      R"({"v":1,"engine":"e","n":7,"req":[],"preempt":[["a",9]],"wait":[["a",0],["b",3,"grammar"]]})");
  EXPECT_TRUE(lists.complete(first));
  ASSERT_EQ(first.rows.size(), 2U);
  EXPECT_EQ(first.rows[0].phase, RowPhase::kPreempted);

  StepRecord second = parsed(R"({"v":2,"engine":"e","req":[["c","decode",0,1,1]],"wait":7})");
  EXPECT_EQ(second.rows.size(), 1U);
  EXPECT_TRUE(lists.complete(second));
  ASSERT_EQ(second.rows.size(), 3U);
  EXPECT_EQ(second.rows[1].id, "a");
  EXPECT_EQ(second.rows[1].phase, RowPhase::kWaiting);
  EXPECT_EQ(second.rows[2].reason, "grammar");

  StepRecord served = parsed(R"({"v":2,"engine":"e","req":[["a","prefill",1,4,0]],"wait":7})");
  EXPECT_TRUE(lists.complete(served));
  EXPECT_EQ(served.rows.size(), 2U);  // a is served, and waits no more

  StepRecord lost = parsed(R"({"v":2,"engine":"e","req":[],"wait":8})");
  EXPECT_FALSE(lists.complete(lost));
  EXPECT_TRUE(lost.rows.empty());
  EXPECT_EQ(parsed(R"({"v":1,"engine":"e","req":[],"wait":"b"})").malformed_entries, 1U);
}

}  // namespace
}  // namespace teller
