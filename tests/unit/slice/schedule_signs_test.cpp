#include "slice/schedule_signs.h"

#include <gtest/gtest.h>

#include "../run_folder/temp_dir.h"
#include "run_maker.h"

namespace teller::slice_detail {
namespace {

using testing::Defect;
using testing::RunOptions;

std::vector<RequestSchedule> schedule_of(const RunOptions& options) {
  TempDir dir;
  const std::string path = dir.file("chains.tcol");
  EXPECT_TRUE(testing::make_chains(options).write(path));
  const auto chains = Chains::open(path);
  EXPECT_TRUE(chains) << (chains ? "" : chains.error().message);
  return read_schedule(*chains);
}

TEST(ScheduleSigns, CountsEveryStepPassedOverAndNoOther) {
  RunOptions options;
  options.defect = Defect::kStarve;
  options.starved_steps = 21;
  const auto schedule = schedule_of(options);
  for (std::uint32_t request = 0; request < schedule.size(); ++request) {
    EXPECT_EQ(schedule[request].passed_over.size(), request == options.victim ? 21U : 0U);
  }
}

TEST(ScheduleSigns, QueueingForASeatIsNotPassedOver) {
  RunOptions options;
  options.max_seqs = 3;
  for (const RequestSchedule& one : schedule_of(options)) EXPECT_TRUE(one.passed_over.empty());
}

TEST(ScheduleSigns, WaitingForBudgetIsNotPassedOver) {
  RunOptions options;
  options.token_budget = 40;
  for (const RequestSchedule& one : schedule_of(options)) EXPECT_TRUE(one.passed_over.empty());
}

TEST(ScheduleSigns, WaitingForBlocksIsNotPassedOver) {
  RunOptions options;
  options.blocks = 90;
  std::size_t preemptions = 0;
  for (const RequestSchedule& one : schedule_of(options)) {
    EXPECT_LE(one.passed_over.size(), 1U);
    preemptions += one.preempted.size();
  }
  EXPECT_GT(preemptions, 0U);
}

TEST(ScheduleSigns, CountsPreemptionsAndLostTokens) {
  RunOptions options;
  options.defect = Defect::kMemory;
  const auto schedule = schedule_of(options);
  const RequestSchedule& victim = schedule[options.victim];
  EXPECT_EQ(victim.preempted.size(), 3U);
  EXPECT_GT(victim.lost_tokens, 3 * 160);
  EXPECT_EQ(victim.recomputed_tokens, victim.lost_tokens);
}

// Rows written by hand. A step is named by what it serves and what waits.
class Schedule {
 public:
  struct Row {
    std::uint32_t request;
    RowPhase phase;
    std::int64_t scheduled, computed;
    const char* reason = nullptr;
  };
  explicit Schedule(std::uint32_t requests) {
    for (std::uint32_t i = 0; i < requests; ++i) {
      auto& r = out_.requests;
      r.id.push_back(out_.strings.intern("r" + std::to_string(i)));
      for (auto* column : {&r.first_seen_ns, &r.first_scheduled_ns, &r.first_token_ns, &r.last_ns,
                           &r.prefill_tokens, &r.decode_tokens}) {
        column->push_back(-1);
      }
      for (auto* column : {&r.steps, &r.waiting_steps, &r.preemptions}) column->push_back(0);
    }
    out_.sources.name.push_back(out_.strings.intern("source"));
  }
  void step(std::int32_t kv_free, const std::vector<Row>& rows) {
    auto& s = out_.steps;
    const auto step = static_cast<std::uint32_t>(s.root.size());
    const std::uint32_t root = node(kNoIndex, step, "step", "step");
    const auto first = static_cast<std::uint32_t>(out_.rows.step.size());
    std::int64_t tokens = 0;
    std::int32_t seats = 0;
    for (const Row& row : rows) {
      tokens += row.scheduled, seats += row.scheduled > 0 ? 1 : 0;
      const std::string family = "row:" + std::string(row_phase_name(row.phase));
      auto& r = out_.rows;
      r.node.push_back(
          node(root, step, family, row.reason ? family + " (" + row.reason + ")" : family));
      r.step.push_back(step), r.request.push_back(row.request);
      r.scheduled.push_back(row.scheduled), r.computed.push_back(row.computed);
      r.computed_fall.push_back(0), r.since_served.push_back(0), r.end_ns.push_back(0);
      r.share.push_back(0), r.phase.push_back(static_cast<std::uint8_t>(row.phase));
      r.is_new.push_back(0);
    }
    s.root.push_back(root), s.schedule.push_back(root), s.engine.push_back(0);
    s.number.push_back(step), s.begin_ns.push_back(step * 1000), s.end_ns.push_back(step * 1000);
    s.last_ns.push_back(0), s.device_busy_ns.push_back(0), s.tokens.push_back(tokens);
    s.context.push_back(0), s.kv_free.push_back(kv_free), s.kv_total.push_back(150);
    s.token_limit.push_back(1 << 20), s.seqs.push_back(seats), s.seq_limit.push_back(64);
    s.first_row.push_back(first), s.row_count.push_back(static_cast<std::uint32_t>(rows.size()));
    s.node_count.push_back(1 + static_cast<std::uint32_t>(rows.size())), s.open.push_back(0);
  }
  std::size_t passed_over(std::uint32_t request) const {
    TempDir dir;
    const std::string path = dir.file("chains.tcol");
    EXPECT_TRUE(out_.write(path));
    const auto chains = Chains::open(path);
    EXPECT_TRUE(chains) << (chains ? "" : chains.error().message);
    return read_schedule(*chains)[request].passed_over.size();
  }

 private:
  std::uint32_t node(std::uint32_t parent, std::uint32_t step, const std::string& family,
                     const std::string& name) {
    auto& n = out_.nodes;
    n.parent.push_back(parent), n.step.push_back(step);
    n.name.push_back(out_.strings.intern(name)), n.family.push_back(out_.strings.intern(family));
    n.track.push_back(kNoIndex), n.request.push_back(kNoIndex), n.begin_ns.push_back(0);
    n.end_ns.push_back(0), n.value.push_back(0), n.source.push_back(0), n.flags.push_back(0);
    n.layer.push_back(0);
    return static_cast<std::uint32_t>(n.parent.size() - 1);
  }

  ChainsBuilder out_;
};

constexpr RowPhase kPrefill = RowPhase::kPrefill, kDecode = RowPhase::kDecode,
                   kWaiting = RowPhase::kWaiting;

// GIVEN a request that is decoding, and room
// THEN each step that serves another instead passes it over, also when it never comes back.
TEST(ScheduleSigns, ADecodingRequestNeedsOneToken) {
  Schedule schedule(2);
  schedule.step(50, {{0, kPrefill, 8, 0}, {1, kPrefill, 8, 0}});
  schedule.step(50, {{0, kDecode, 1, 8}, {1, kDecode, 1, 8}});
  for (int i = 0; i < 5; ++i) schedule.step(50, {{0, kDecode, 1, 9 + i}, {1, kWaiting, 0, 9}});
  EXPECT_EQ(schedule.passed_over(1), 5U);
}

// GIVEN requests that share a long prefix, so that few blocks hold many tokens
// THEN a chunk is not believed to fit into blocks that cannot hold it.
TEST(ScheduleSigns, SharedPrefixesDoNotMakeBlocksLarger) {
  for (const std::int32_t free : {2, 4}) {
    Schedule schedule(9);
    std::vector<Schedule::Row> rows;
    for (std::uint32_t r = 0; r < 8; ++r) rows.push_back({r, kPrefill, 16, 1600});
    rows.push_back({8, kPrefill, 64, 0});
    schedule.step(300, rows);
    rows.pop_back();
    std::int64_t computed = 1616;
    for (int i = 0; i < 64; ++i, ++computed) {  // eight requests take a block every 16 steps
      for (Schedule::Row& row : rows) row = {row.request, kDecode, 1, computed};
      schedule.step(free + 24 - 8 * (i / 16), rows);
    }
    for (int i = 0; i < 5; ++i, ++computed) {
      for (Schedule::Row& row : rows) row = {row.request, kDecode, 1, computed};
      std::vector<Schedule::Row> with = rows;
      with.push_back({8, kWaiting, 0, 64});
      schedule.step(free, with);
    }
    schedule.step(100, {{8, kPrefill, 64, 64}});
    EXPECT_EQ(schedule.passed_over(8), free < 4 ? 0U : 5U) << free;
  }
}

// GIVEN the head of a queue that waits for more blocks than its first chunk takes
// WHEN nobody behind it gets in
// THEN it is not passed over; if somebody does, it is.
TEST(ScheduleSigns, TheHeadOfAQueueIsNotPassedOver) {
  for (const bool overtaken : {false, true}) {
    Schedule schedule(3);
    schedule.step(500, {{0, kPrefill, 64, 0}});
    for (int i = 0; i < 10; ++i) {
      std::vector<Schedule::Row> rows{{0, kDecode, 1, 64 + i}, {1, kWaiting, 0, 0}};
      if (i > 0) {
        rows.push_back({2, overtaken ? kPrefill : kWaiting, overtaken ? 8 : 0, 0});
      }
      schedule.step(100, rows);
    }
    schedule.step(500, {{1, kPrefill, 64, 0}});
    EXPECT_EQ(schedule.passed_over(1), overtaken ? 9U : 0U);
  }
}

// GIVEN a request that is overtaken while it waits, and never served in the capture
// THEN what it needs is not known, and nothing is said.
TEST(ScheduleSigns, WhoIsNeverServedHasUnknownNeeds) {
  Schedule schedule(2);
  schedule.step(500, {{0, kWaiting, 0, 0}});
  for (int i = 0; i < 10; ++i) schedule.step(500, {{1, kDecode, 1, 64 + i}, {0, kWaiting, 0, 0}});
  EXPECT_EQ(schedule.passed_over(0), 0U);
}

TEST(ScheduleSigns, AWaitWithAReasonIsNotPassedOver) {
  for (const char* reason : {static_cast<const char*>(nullptr), "grammar"}) {
    Schedule schedule(2);
    schedule.step(500, {{0, kWaiting, 0, 0, reason}});
    for (int i = 0; i < 10; ++i) {
      schedule.step(500, {{1, kDecode, 1, 64 + i}, {0, kWaiting, 0, 0, reason}});
    }
    schedule.step(500, {{0, kPrefill, 16, 0}});
    EXPECT_EQ(schedule.passed_over(0), reason == nullptr ? 10U : 0U);
  }
}

}  // namespace
}  // namespace teller::slice_detail
