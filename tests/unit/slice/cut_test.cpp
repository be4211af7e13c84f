// Slices of made runs: features say who deviates, and the slice keeps it.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "../run_folder/temp_dir.h"
#include "base/file.h"
#include "run_folder/open_chains.h"
#include "run_folder/slices.h"
#include "run_maker.h"
#include "slice/robust.h"
#include "slice/slice.h"

namespace teller {
namespace {

using testing::Defect;
using testing::make_chains;
using testing::make_run;
using testing::RunOptions;

class CutTest : public ::testing::Test {
 protected:
  std::string make(const std::string& name, const RunOptions& options) {
    const std::string path = dir_.file(name);
    EXPECT_TRUE(make_run(path, options));
    return path;
  }
  std::string healthy() {
    RunOptions options;
    options.seed = 1000;
    return make("healthy", options);
  }
  SliceResult cut(const std::string& path, const SliceOptions& options) {
    auto run = RunFolder::open(path);
    auto result = slice(*run, options);
    EXPECT_TRUE(result) << (result ? "" : result.error().message);
    return result ? *result : SliceResult{};
  }
  // Opens what cut() wrote.
  void open(const std::string& path) {
    auto run = RunFolder::open(path);
    auto chains = open_chains(*run);
    ASSERT_TRUE(chains);
    chains_ = std::move(*chains);
    auto slices = open_slices(*run, chains_);
    ASSERT_TRUE(slices) << slices.error().message;
    slices_ = std::move(*slices);
  }
  TempDir dir_;
  Chains chains_;
  Slices slices_;
};

// Of the nodes that belong to one request and that something is expected of: median of a feature.
std::map<std::uint32_t, double> medians(const Chains& chains, const Slices& slices,
                                        Feature feature) {
  std::map<std::uint32_t, std::vector<double>> values;
  for (std::size_t i = 0; i < slices.node_count(); ++i) {
    const std::uint32_t request = chains.nodes.request[slices.nodes.node[i]];
    const NodeFeatures& f = slices.nodes.features[i];
    if (request != kNoIndex && f[kExpected] > 0) {
      values[request].push_back(static_cast<double>(f[feature]));
    }
  }
  std::map<std::uint32_t, double> result;
  for (auto& [request, list] : values) result[request] = slice_detail::median(std::move(list));
  return result;
}

// All nodes stay, so that every feature can be looked at.
SliceOptions keep_all() {
  SliceOptions options;
  options.weights.kappa = 0;
  options.skeleton_levels = 100;
  options.max_nodes = 1'000'000;
  return options;
}

std::uint32_t request_named(const Chains& chains, std::string_view id) {
  for (std::uint32_t request = 0; request < chains.request_count(); ++request) {
    if (chains.string(chains.requests.id[request]) == id) return request;
  }
  return kNoIndex;
}

TEST_F(CutTest, HealthyStepsAreRarelySuspicious) {
  const std::string baseline = healthy();
  std::size_t units = 0, suspicious = 0;
  for (const std::uint64_t seed : {5U, 6U, 7U}) {
    RunOptions options;
    options.seed = seed;
    SliceOptions with;
    with.baselines = {baseline};
    const SliceResult result = cut(make("run" + std::to_string(seed), options), with);
    units += result.units;
    suspicious += result.suspicious_units;
  }
  EXPECT_GT(units, 300U);
  EXPECT_LT(suspicious, units / 5);
}

TEST_F(CutTest, SlowOperatorShowsAgainstTheMatesOfItsRequestAlone) {
  RunOptions options;
  options.defect = Defect::kSlowOp;
  const std::string path = make("run", options);
  for (const auto& baselines : {std::vector<std::string>{healthy()}, {}}) {
    SliceOptions with = keep_all();
    with.baselines = baselines;
    cut(path, with);
    open(path);
    for (const auto& [request, z] : medians(chains_, slices_, kZMates)) {
      if (request == request_named(chains_, "req-3")) {
        EXPECT_GT(z, 1.5);
      } else {
        EXPECT_LT(std::abs(z), 0.7) << request;
      }
    }
  }
}

TEST_F(CutTest, WhatIsSlowAgainAndAgainShowsOverTheStepsAround) {
  RunOptions options;
  options.seed = 5;
  options.defect = Defect::kSlowOp;
  options.slow_ratio = 2.0;
  const std::string run = make("slow", options);
  SliceOptions slice_options;
  slice_options.baselines = {healthy()};
  cut(run, slice_options);
  open(run);
  const std::map<std::uint32_t, double> around = medians(chains_, slices_, kZAround);
  for (const auto& [request, value] : around) {
    if (request == options.victim) {
      EXPECT_GT(value, 1.0);
    } else {
      EXPECT_LT(value, 1.0) << request;
    }
  }
  ASSERT_TRUE(around.contains(options.victim));
}

TEST_F(CutTest, BlocksThatNoRowAccountsForAreLost) {
  RunOptions options;
  options.seed = 6;
  const std::string run = make("kept", options);
  cut(run, {});
  open(run);
  for (std::size_t i = 0; i < slices_.node_count(); ++i) {
    ASSERT_LT(slices_.nodes.features[i][kKvLost], 0.5F);
  }
  // The same run, but sixty blocks of the pool are never free.
  ChainsBuilder chains = make_chains(options);
  for (std::int32_t& free : chains.steps.kv_free) free = std::max(free - 60, 0);
  ASSERT_TRUE(chains.write(run + "/chains.tcol"));
  auto folder = RunFolder::open(run);
  ASSERT_TRUE(folder->publish({"chains", {"chains.tcol"}, "reconstruct", 0, {}, "{}"}));
  ASSERT_TRUE(folder->save());
  cut(run, {});
  open(run);
  std::size_t rows = 0, lost = 0;
  for (std::size_t i = 0; i < slices_.node_count(); ++i) {
    if ((chains_.nodes.flags[slices_.nodes.node[i]] & kNodeRow) == 0) continue;
    ++rows;
    lost += slices_.nodes.features[i][kKvLost] > 1 ? 1 : 0;
  }
  EXPECT_GT(lost, rows * 3 / 4);
}

TEST_F(CutTest, BusyStretchShowsInThePaceOfTheStepNotInItsOperators) {
  RunOptions options;
  options.pace = 3;
  const std::string path = make("run", options);
  SliceOptions with = keep_all();
  with.baselines = {healthy()};
  cut(path, with);
  open(path);
  std::vector<double> step, self;
  for (std::size_t i = 0; i < slices_.node_count(); ++i) {
    const NodeFeatures& f = slices_.nodes.features[i];
    if (slices_.nodes.parent[i] == kNoIndex) {
      step.push_back(static_cast<double>(f[kZStep]));
    } else if (f[kExpected] > 0) {
      self.push_back(static_cast<double>(f[kZSelf]));
    }
  }
  EXPECT_GT(slice_detail::median(step), 1.5);
  EXPECT_LT(std::abs(slice_detail::median(self)), 0.5);
}

TEST_F(CutTest, RowsSayWhoIsPassedOverAndPreempted) {
  for (const Defect defect : {Defect::kStarve, Defect::kMemory}) {
    RunOptions options;
    options.defect = defect;
    const bool starve = defect == Defect::kStarve;
    const std::string path = make(starve ? "starve" : "memory", options);
    cut(path, {});
    open(path);
    std::map<std::uint32_t, float> largest;
    for (std::size_t i = 0; i < slices_.node_count(); ++i) {
      const std::uint32_t node = slices_.nodes.node[i];
      if ((chains_.nodes.flags[node] & kNodeRow) == 0) continue;
      const NodeFeatures& f = slices_.nodes.features[i];
      float& value = largest[chains_.nodes.request[node]];
      value = std::max(value, f[starve ? kPassedCount : kPreemptions]);
      if (f[kPassedOver] > 0) {
        EXPECT_TRUE(slices_.nodes.flags[i] & kSliceSuspicious);
      }
    }
    const std::uint32_t victim = request_named(chains_, "req-3");
    for (const auto& [request, value] : largest) {
      if (request == victim) {
        EXPECT_GT(value, 1.3F);
      } else {
        EXPECT_LT(value, largest[victim]);
      }
    }
  }
}

TEST_F(CutTest, ADeepestOpenNodeIsSuspiciousAndItsAncestorsStay) {
  RunOptions options;
  options.ends_open = true;
  options.max_steps = 60;
  const std::string path = make("run", options);
  cut(path, {});
  open(path);
  const std::size_t last = slices_.unit_count() - 1;
  const std::size_t first = slices_.units.first_node[last];
  std::size_t suspicious = 0;
  for (std::size_t i = first; i < slices_.node_count(); ++i) {
    if ((slices_.nodes.flags[i] & kSliceSuspicious) == 0) continue;
    if (slices_.nodes.features[i][kOpen] == 0) continue;
    ++suspicious;
    EXPECT_NE(slices_.nodes.parent[i], kNoIndex);  // STEP is open too, but holds the open node
    EXPECT_TRUE(slices_.nodes.flags[slices_.nodes.parent[i]] & kSliceAncestor);
  }
  EXPECT_EQ(suspicious, 1U);
}

TEST_F(CutTest, OperatorsThatHealthyRunsLackAreExtraAndWhatIsNotThereIsAGhost) {
  RunOptions options;
  const std::string path = make("run", options);
  {  // the run's mlp under another name
    auto run = RunFolder::open(path);
    auto chains = open_chains(*run);
    ASSERT_TRUE(chains);
    ChainsBuilder changed = testing::make_chains(options);
    const std::uint32_t old_name = changed.strings.intern("mlp");
    const std::uint32_t new_name = changed.strings.intern("mlp_v2");
    for (std::uint32_t& family : changed.nodes.family) {
      if (family == old_name) family = new_name;
    }
    ASSERT_TRUE(changed.write(run->file("chains.tcol")));
    ASSERT_TRUE(run->publish({"chains", {"chains.tcol"}, "reconstruct", 0, {}, "{}"}));
    ASSERT_TRUE(run->save());
  }
  SliceOptions with;
  with.baselines = {healthy()};
  cut(path, with);
  open(path);
  std::size_t extra = 0, ghosts = 0;
  for (std::size_t i = 0; i < slices_.node_count(); ++i) {
    const NodeFeatures& f = slices_.nodes.features[i];
    const bool ghost = (slices_.nodes.flags[i] & kSliceGhost) != 0;
    EXPECT_EQ(ghost, f[kPresence] < 0);
    ghosts += ghost ? 1 : 0;
    if (f[kPresence] <= 0) continue;
    ++extra;
    EXPECT_EQ(chains_.string(chains_.nodes.family[slices_.nodes.node[i]]), "mlp_v2");
  }
  EXPECT_GT(extra, 100U);
  EXPECT_GT(ghosts, 20U);
}

TEST_F(CutTest, BaselineFileGivesTheSlicesAndFindingsOfTheRunItWasSavedFrom) {
  const std::string baseline = healthy(), file = dir_.file("baseline.json");
  SliceOptions save;
  save.save_baseline = file;
  cut(baseline, save);
  RunOptions options;
  options.defect = Defect::kSlowOp;
  const std::string path = make("run", options);
  SliceOptions with;
  with.baselines = {baseline};
  const SliceResult by_run = cut(path, with);
  const std::string slices = *read_file(path + "/slices.tcol", "slices", 1 << 30);
  with.baselines = {file};
  const SliceResult by_file = cut(path, with);
  EXPECT_EQ(*read_file(path + "/slices.tcol", "slices", 1 << 30), slices);
  EXPECT_EQ((*by_run.findings)["requests"], (*by_file.findings)["requests"]);
  EXPECT_EQ((*by_run.findings)["instances"], (*by_file.findings)["instances"]);
  EXPECT_EQ((*by_file.findings)["baseline"]["from"], "file");
  EXPECT_EQ((*by_file.findings)["baseline"]["entry"], "healthy");
  EXPECT_GT((*by_file.findings)["baseline"]["covers"].get<double>(), 0.9);
}

TEST_F(CutTest, BaselineFileHoldsOneEntryPerNameAndThePartThatFitsIsTaken) {
  const std::string file = dir_.file("baseline.json");
  SliceOptions save;
  save.save_baseline = file;
  const std::string path = healthy();
  for (const char* name : {"a", "b", "a"}) {
    save.baseline_name = name;
    cut(path, save);
  }
  auto document = nlohmann::ordered_json::parse(*read_file(file, "file", 1 << 30));
  ASSERT_EQ(document["entries"].size(), 2U);
  EXPECT_EQ(document["entries"][0]["name"], "a");
  for (auto& key : document["entries"][0]["keys"]) {
    key["family"] = "other " + key["family"].get<std::string>();
  }
  ASSERT_TRUE(write_file_atomic(file, document.dump()));
  SliceOptions with;
  with.baselines = {file};
  EXPECT_EQ((*cut(make("run", {}), with).findings)["baseline"]["entry"], "b");
  document["entries"].erase(1);
  ASSERT_TRUE(write_file_atomic(file, document.dump()));
  const auto findings = *cut(make("run2", {}), with).findings;
  EXPECT_EQ(findings["baseline"]["from"], "run");
  EXPECT_NE(findings["notes"].dump().find("none of its entries fits"), std::string::npos);
}

TEST_F(CutTest, BrokenBaselineFilesAreRefusedInOneLine) {
  const std::string file = dir_.file("baseline.json");
  SliceOptions save;
  save.save_baseline = file;
  cut(healthy(), save);
  const std::string good = *read_file(file, "file", 1 << 30);
  const auto whole = nlohmann::ordered_json::parse(good);
  std::vector<std::string> broken = {"",
                                     "{}",
                                     "[1]",
                                     good.substr(0, good.size() / 2),
                                     R"({"format":"teller.baseline","version":2,"entries":[]})",
                                     R"({"format":"teller.baseline","version":1,"entries":3})",
                                     R"({"format":"teller.baseline","version":1,"entries":[7]})"};
  const auto spoil = [&](const char* pointer, const nlohmann::ordered_json& value) {
    auto copy = whole;
    copy[nlohmann::ordered_json::json_pointer(pointer)] = value;
    broken.push_back(copy.dump());
  };
  spoil("/entries/0/name", 7);
  spoil("/entries/0/runs", "x");
  spoil("/entries/0/kinds", {{1000, 1}});
  spoil("/entries/0/keys/0/family", nullptr);
  spoil("/entries/0/keys/0/layer", "LAYER");
  spoil("/entries/0/keys/0/self", {1, 2, 3});
  spoil("/entries/0/keys/0/self", {0, 0, 0, 0, 0, 0, 0, 0, 5});        // no spread
  spoil("/entries/0/keys/0/self", {1e300, 0, 0, 0, 0, 0, 0, 0.1, 5});  // out of range
  spoil("/entries/0/keys/0/duration", {0, 0, 0, 9, 0, 0, 0, 0.1, 5});  // range upside down
  spoil("/entries/0/keys/0/mates", {-1, 0});
  spoil("/entries/0/keys/0/gap", {0, 0.5, -4});
  spoil("/entries/0/keys/0/kinds", {{1, -1}});
  spoil("/entries/0/schedule/passed_over", "many");
  const std::string path = make("run", {});
  SliceOptions with;
  with.baselines = {file};
  for (const std::string& text : broken) {
    ASSERT_TRUE(write_file_atomic(file, text));
    auto run = RunFolder::open(path);
    const auto result = slice(*run, with);
    ASSERT_FALSE(result) << text.substr(0, 200);
    EXPECT_NE(result.error().message.find("baseline file"), std::string::npos);
    EXPECT_EQ(result.error().message.find('\n'), std::string::npos);
  }
}

TEST_F(CutTest, NoMoreNodesThanAskedForAndTheMostRelevantStay) {
  RunOptions options;
  options.defect = Defect::kSlowOp;
  const std::string path = make("run", options);
  SliceOptions with;
  with.baselines = {healthy()};
  with.max_nodes = 6;
  const SliceResult result = cut(path, with);
  EXPECT_GT(result.over_limit, 0U);
  open(path);
  std::size_t held = 0;
  for (std::size_t unit = 0; unit < slices_.unit_count(); ++unit) {
    EXPECT_LE(slices_.units.node_count[unit], 6U);
    const std::size_t first = slices_.units.first_node[unit];
    EXPECT_EQ(slices_.nodes.parent[first], kNoIndex);
    for (std::size_t i = first; i < first + slices_.units.node_count[unit]; ++i) {
      held += (slices_.nodes.flags[i] & kSliceSuspicious) != 0 ? 1 : 0;
    }
  }
  EXPECT_GT(held, 10U);
}

TEST_F(CutTest, SameInputGivesTheSameBytes) {
  RunOptions options;
  options.defect = Defect::kSlowOp;
  const std::string path = make("run", options);
  cut(path, {});
  const std::string first = *read_file(path + "/slices.tcol", "slices", 1 << 30);
  cut(path, {});
  EXPECT_EQ(*read_file(path + "/slices.tcol", "slices", 1 << 30), first);
}

}  // namespace
}  // namespace teller
