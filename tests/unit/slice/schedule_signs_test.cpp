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

}  // namespace
}  // namespace teller::slice_detail
