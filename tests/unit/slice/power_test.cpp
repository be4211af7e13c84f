// How often the right request is named on many made runs, and how often a healthy run is accused.
// TELLER_POWER_SEEDS sets the number of runs per row (default: few, for every build).
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "../run_folder/temp_dir.h"
#include "run_maker.h"
#include "slice/slice.h"

namespace teller {
namespace {

using testing::Defect;
using testing::make_run;
using testing::RunOptions;

struct Row {
  const char* name;
  Defect defect;
  double slow_ratio;
  int blocks;
  bool with_baseline;
  double least = 0.99;  // share of right answers
};

int seeds() {
  const char* text = std::getenv("TELLER_POWER_SEEDS");
  return text == nullptr ? 6 : std::atoi(text);
}

// Runs the row's kind with one seed; "" or the first request named.
std::string first_named(const TempDir& dir, const Row& row, int seed, const std::string& baseline) {
  RunOptions options;
  options.seed = static_cast<std::uint64_t>(seed);
  options.defect = row.defect;
  options.slow_ratio = row.slow_ratio;
  options.blocks = row.blocks;
  options.victim = static_cast<std::uint32_t>(seed % options.requests);  // the last have few steps
  options.pace = 1 + 0.5 * (seed % 3);
  const std::string path = dir.file("run");
  if (!make_run(path, options)) return "not made";
  auto run = RunFolder::open(path);
  SliceOptions slice_options;
  if (row.with_baseline) slice_options.baselines = {baseline};
  const auto result = slice(*run, slice_options);
  std::filesystem::remove_all(path);
  if (!result) return result.error().message;
  const auto& requests = (*result->findings)["requests"];
  if (!requests.empty()) return requests[0]["id"];
  return result->suspicious ? "the run" : "";
}

TEST(Power, VictimsAreNamedAndHealthyRunsAreNot) {
  const Row rows[] = {{"none", Defect::kNone, 1, 256, true},
                      {"none, no baseline", Defect::kNone, 1, 256, false},
                      {"none, short pool", Defect::kNone, 1, 120, true},
                      {"starve 15 steps", Defect::kStarve, 1, 256, true},
                      {"slow-op x3", Defect::kSlowOp, 3, 256, true},
                      {"slow-op x3, no baseline", Defect::kSlowOp, 3, 256, false},
                      {"slow-op x2", Defect::kSlowOp, 2, 256, true, 0.9},
                      {"memory, 3 times", Defect::kMemory, 1, 256, true}};
  for (const Row& row : rows) {
    TempDir dir;
    int right = 0, others = 0;
    for (int seed = 1; seed <= seeds(); ++seed) {
      RunOptions healthy;
      healthy.seed = static_cast<std::uint64_t>(100000 + seed);
      healthy.blocks = row.blocks;
      const std::string baseline = dir.file("healthy-" + std::to_string(seed));
      if (row.with_baseline) {
        ASSERT_TRUE(make_run(baseline, healthy));
      }
      const std::string named = first_named(dir, row, seed, baseline);
      const std::string wanted =
          row.defect == Defect::kNone ? "" : "req-" + std::to_string(seed % healthy.requests);
      (named == wanted ? right : others) += 1;
      if (named != wanted) {
        std::printf("  %s, seed %d: wanted '%s', named '%s'\n", row.name, seed, wanted.c_str(),
                    named.c_str());
      }
      std::filesystem::remove_all(baseline);
    }
    std::printf("%-26s right %d of %d\n", row.name, right, right + others);
    EXPECT_GE(right, row.least * (right + others)) << row.name;
  }
}

}  // namespace
}  // namespace teller
