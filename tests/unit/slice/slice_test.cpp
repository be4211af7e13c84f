// The whole of localising on made runs: who is named first, and that healthy runs stay silent.
#include "slice/slice.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "../run_folder/temp_dir.h"
#include "base/file.h"
#include "run_maker.h"

namespace teller {
namespace {

using testing::Defect;
using testing::make_run;
using testing::RunOptions;
using Json = nlohmann::ordered_json;

// A folder with a healthy baseline, in which runs are made and judged.
class SliceTest : public ::testing::Test {
 protected:
  std::string make(const std::string& name, const RunOptions& options) {
    const std::string path = dir_.file(name);
    const Status made = make_run(path, options);
    EXPECT_TRUE(made) << (made ? "" : made.error().message);
    return path;
  }
  std::string healthy(std::uint64_t seed = 1000) {
    RunOptions options;
    options.seed = seed;
    return make("healthy-" + std::to_string(seed), options);
  }
  std::string make_of(const std::string& name, const ChainsBuilder& chains) {
    RunOptions small;
    small.max_steps = 1;
    const std::string path = make(name, small);
    auto run = RunFolder::open(path);
    EXPECT_TRUE(chains.write(run->file("chains.tcol")));
    EXPECT_TRUE(run->publish({"chains", {"chains.tcol"}, "reconstruct", 0, {}, "{}"}));
    EXPECT_TRUE(run->save());
    return path;
  }
  std::string make_renamed(const RunOptions& options, const char* family, const char* name);
  std::string make_failed(std::int64_t before_end_ns, std::int64_t code);
  Json judge(const std::string& path, const std::vector<std::string>& baselines) {
    auto run = RunFolder::open(path);
    EXPECT_TRUE(run);
    SliceOptions options;
    options.baselines = baselines;
    auto result = slice(*run, options);
    EXPECT_TRUE(result) << (result ? "" : result.error().message);
    return result ? *result->findings : Json();
  }
  static std::string first(const Json& findings) {
    return findings["requests"].empty() ? "" : findings["requests"][0]["id"].get<std::string>();
  }
  static std::string first_kind(const Json& findings) {
    return findings["requests"].empty() ? "" : findings["requests"][0]["reasons"][0]["kind"];
  }
  TempDir dir_;
};

TEST_F(SliceTest, HealthyRunStaysSilent) {
  const Json findings = judge(make("run", {}), {healthy()});
  EXPECT_FALSE(findings["verdict"]["suspicious"]) << findings.dump(1);
  EXPECT_TRUE(findings["requests"].empty());
  EXPECT_TRUE(findings["verdict"]["fault_type"].is_null());
}

struct KindCase {
  Defect defect;
  const char* kind;
};

TEST_F(SliceTest, NamesTheVictimFirstWithAndWithoutBaseline) {
  const KindCase cases[] = {{Defect::kStarve, "passed_over"},
                            {Defect::kSlowOp, "slow_operator"},
                            {Defect::kMemory, "preempted"}};
  const std::string baseline = healthy();
  for (const KindCase& one : cases) {
    for (const std::uint32_t victim : {3U, 9U}) {
      RunOptions options;
      options.defect = one.defect;
      options.victim = victim;
      const std::string path = make(std::string(one.kind) + std::to_string(victim), options);
      for (const auto& baselines : {std::vector<std::string>{baseline}, {}}) {
        const Json findings = judge(path, baselines);
        EXPECT_EQ(first(findings), "req-" + std::to_string(victim)) << one.kind;
        EXPECT_EQ(first_kind(findings), one.kind);
        EXPECT_EQ(findings["requests"].size(), 1U) << findings["requests"].dump(1);
      }
    }
  }
}

TEST_F(SliceTest, StatesEffectEvidenceAndLocators) {
  RunOptions options;
  options.defect = Defect::kSlowOp;
  options.slow_ratio = 4;
  const Json findings = judge(make("run", options), {healthy()});
  ASSERT_FALSE(findings["requests"].empty());
  const Json& reason = findings["requests"][0]["reasons"][0];
  EXPECT_NEAR(reason["effect"]["ratio"].get<double>(), 4, 0.6);
  EXPECT_GT(reason["steps"].size(), 50U);
  EXPECT_EQ(reason["operators"][0]["family"], "attention");
  const Json& node = reason["evidence_nodes"][0];
  for (const char* key :
       {"run", "host", "rank", "pid", "step", "node", "layer", "family", "name", "start_ns"}) {
    EXPECT_TRUE(node.contains(key)) << key;
  }
  EXPECT_EQ(node["run"], "run");
  EXPECT_EQ(node["layer"], "BE");
}

TEST_F(SliceTest, OrdinaryPreemptionIsNoFinding) {
  RunOptions options;
  options.blocks = 120;
  const std::string run = make("run", options);
  options.seed = 2;
  const std::string other = make("other", options);
  const Json findings = judge(run, {other});
  EXPECT_FALSE(findings["verdict"]["suspicious"]) << findings["requests"].dump(1);
}

TEST_F(SliceTest, ShortPoolIsTheRunsMatter) {
  RunOptions options;
  options.blocks = 100;
  const Json findings = judge(make("run", options), {healthy()});
  ASSERT_FALSE(findings["run"].empty());
  EXPECT_EQ(findings["run"][0]["kind"], "pool_short");
}

TEST_F(SliceTest, SlowFamilyNeedsABaseline) {
  RunOptions options;
  options.defect = Defect::kSlowFamily;
  const std::string run = make("run", options);
  const Json alone = judge(run, {});
  EXPECT_FALSE(alone["verdict"]["suspicious"]);
  EXPECT_NE(alone["notes"].dump().find("--baseline"), std::string::npos);
  const Json compared = judge(run, {healthy()});
  ASSERT_FALSE(compared["operators"].empty());
  EXPECT_EQ(compared["operators"][0]["family"], "mlp");
  EXPECT_TRUE(compared["operators"][0]["suspicious"]) << compared["operators"].dump(1);
  EXPECT_TRUE(compared["requests"].empty());
}

// A run in which `family` is called `name`.
std::string SliceTest::make_renamed(const RunOptions& options, const char* family,
                                    const char* name) {
  ChainsBuilder chains = testing::make_chains(options);
  const std::uint32_t from = chains.strings.intern(family), to = chains.strings.intern(name);
  for (std::uint32_t& id : chains.nodes.family) id = id == from ? to : id;
  return make_of(name, chains);
}

TEST_F(SliceTest, AnotherKernelOfTheSameTimeIsANote) {
  const Json findings = judge(make_renamed({}, "mlp", "mlp 64x128"), {healthy()});
  EXPECT_FALSE(findings["verdict"]["suspicious"]) << findings["operators"].dump(1);
  EXPECT_NE(findings["notes"].dump().find("kernel choice differs"), std::string::npos);
}

TEST_F(SliceTest, ASlowerKernelIsAFinding) {
  RunOptions options;
  options.defect = Defect::kSlowFamily;
  const Json findings = judge(make_renamed(options, "mlp", "mlp 64x128"), {healthy()});
  EXPECT_TRUE(findings["verdict"]["suspicious"]);
  ASSERT_FALSE(findings["operators"].empty());
  EXPECT_EQ(findings["operators"][0]["kind"], "extra");
}

TEST_F(SliceTest, FamiliesOfAnotherLoadAreNotCompared) {
  RunOptions options;
  ChainsBuilder chains = testing::make_chains(options);
  for (std::int64_t& tokens : chains.steps.tokens) tokens += 10000;
  const std::uint32_t from = chains.strings.intern("mlp"), to = chains.strings.intern("mlp large");
  for (std::uint32_t& id : chains.nodes.family) id = id == from ? to : id;
  const Json findings = judge(make_of("run", chains), {healthy()});
  for (const Json& op : findings["operators"]) EXPECT_EQ(op["kind"], "slower");
}

// A failed call outside any step, `before_end_ns` before the run's end.
std::string SliceTest::make_failed(std::int64_t before_end_ns, std::int64_t code) {
  ChainsBuilder chains = testing::make_chains({});
  auto& n = chains.nodes;
  const std::int64_t end = n.end_ns.back();
  n.parent.push_back(kNoIndex), n.step.push_back(kNoIndex);
  n.name.push_back(chains.strings.intern("cudaX")), n.family.push_back(n.name.back());
  n.track.push_back(0), n.request.push_back(kNoIndex), n.begin_ns.push_back(end - before_end_ns);
  n.end_ns.push_back(end - before_end_ns), n.value.push_back(code), n.source.push_back(0);
  n.flags.push_back(kNodeFailed), n.layer.push_back(static_cast<std::uint8_t>(Layer::kRuntime));
  return make_of("failed" + std::to_string(before_end_ns) + "-" + std::to_string(code), chains);
}

TEST_F(SliceTest, AProbeThatFailedIsANoteWithoutABaseline) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  const std::string probe = make_failed(2 * kSecond, 1);
  EXPECT_FALSE(judge(probe, {})["verdict"]["suspicious"]);
  EXPECT_TRUE(judge(make_failed(kSecond / 2, 1), {})["verdict"]["suspicious"]);
  EXPECT_TRUE(judge(make_failed(2 * kSecond, 700), {})["verdict"]["suspicious"]);
  EXPECT_TRUE(judge(probe, {healthy()})["verdict"]["suspicious"]);
}

// GIVEN an engine that had nothing to do when the capture ended
// THEN its open step is no hang, unless the step had work.
TEST_F(SliceTest, WaitingForWorkIsNoHang) {
  RunOptions options;
  options.max_steps = 60;
  options.ends_open = true;
  for (const char* open : {"queue.get", "attention"}) {
    ChainsBuilder chains = testing::make_chains(options);
    chains.steps.row_count.back() = 0;
    const std::size_t rows = chains.steps.first_row.back();
    visit_columns(chains, [rows](const char* table, const char*, auto& column) {
      if (std::string_view(table) == "rows") column.resize(rows);
    });
    for (std::size_t i = 0; i < chains.nodes.flags.size(); ++i) {
      if ((chains.nodes.flags[i] & kNodeOpen) == 0 || chains.nodes.layer[i] == 0) continue;
      chains.nodes.name[i] = chains.nodes.family[i] = chains.strings.intern(open);
    }
    const Json findings = judge(make_of(open, chains), {});
    EXPECT_EQ(findings["verdict"]["suspicious"], std::string(open) == "attention");
  }
}

TEST_F(SliceTest, PaceOfTheMachineIsNoted) {
  RunOptions options;
  options.pace = 2;
  const Json findings = judge(make("run", options), {healthy()});
  EXPECT_FALSE(findings["verdict"]["suspicious"]) << findings.dump(1);
  EXPECT_NE(findings["notes"].dump().find("the machine's pace"), std::string::npos);
}

TEST_F(SliceTest, OneStepSaysThatABaselineIsNeeded) {
  RunOptions options;
  options.max_steps = 1;
  options.step_records = options.owned_ranges = false;
  const Json findings = judge(make("run", options), {});
  EXPECT_FALSE(findings["verdict"]["suspicious"]);
  EXPECT_TRUE(findings["instances"].empty());
  EXPECT_NE(findings["notes"].dump().find("a baseline is needed"), std::string::npos);
}

TEST_F(SliceTest, HangNamesTheDeepestOpenNode) {
  RunOptions options;
  options.max_steps = 60;
  options.ends_open = true;
  const Json findings = judge(make("run", options), {});
  ASSERT_FALSE(findings["run"].empty());
  EXPECT_EQ(findings["run"][0]["kind"], "unfinished_step");
  EXPECT_EQ(findings["run"][0]["evidence_nodes"][0]["name"], "attention");
}

TEST_F(SliceTest, SameInputSameBytes) {
  RunOptions options;
  options.defect = Defect::kMemory;
  const std::string run = make("run", options), baseline = healthy();
  judge(run, {baseline});
  const auto once = sha256_file(run + "/findings.json");
  judge(run, {baseline});
  const auto twice = sha256_file(run + "/findings.json");
  ASSERT_TRUE(once);
  EXPECT_EQ(*once, *twice);
}

TEST_F(SliceTest, RefusesTheRunAsItsOwnBaseline) {
  const std::string path = make("run", {}), copy = make("copy", {});
  for (const std::string& baseline : {path, copy}) {
    auto run = RunFolder::open(path);
    SliceOptions options;
    options.baselines = {baseline};
    const auto result = slice(*run, options);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, ErrorCode::kUsage);
  }
}

TEST_F(SliceTest, SaysWhichBaselineIsMissing) {
  auto run = RunFolder::open(make("run", {}));
  SliceOptions options;
  options.baselines = {dir_.file("nowhere")};
  const auto missing = slice(*run, options);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(missing.error().message.rfind("baseline: ", 0), 0U);
}

}  // namespace
}  // namespace teller
