// The report on made runs: order of its parts, who is first, views of chains, hostile names.
#include "report/report.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "../run_folder/temp_dir.h"
#include "base/file.h"
#include "run_maker.h"
#include "slice/slice.h"

namespace teller {
namespace {

using testing::Defect;
using testing::RunOptions;
using Json = nlohmann::ordered_json;

class ReportTest : public ::testing::Test {
 protected:
  RunFolder make(const RunOptions& options, bool sliced = true) {
    const std::string path = dir_.file("run");
    EXPECT_TRUE(testing::make_run(path, options));
    auto run = RunFolder::open(path);
    if (sliced) {
      EXPECT_TRUE(slice(*run, {}));
    }
    return std::move(*run);
  }
  static Json report(const RunFolder& run, const ReportOptions& options = {}) {
    auto document = build_report(run, options);
    EXPECT_TRUE(document) << (document ? "" : document.error().message);
    return document ? *document : Json();
  }
  static RunOptions slow() {
    RunOptions options;
    options.defect = Defect::kSlowOp;
    return options;
  }
  RunFolder with(const ChainsBuilder& chains, bool sliced);
  // Makes `text` the run's diagnosis.
  static void diagnose(RunFolder& run, std::string_view text) {
    ASSERT_TRUE(write_file_atomic(run.file("diagnosis.json"), text));
    ASSERT_TRUE(run.publish({"diagnosis", {"diagnosis.json"}, "diagnose", 1, {"chains"}, "{}"}));
  }
  TempDir dir_;
};

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_F(ReportTest, SuspectComesFirstEverywhere) {
  const Json document = report(make(slow()));
  EXPECT_EQ(document["suspects"][0]["id"], "req-3");
  EXPECT_EQ(document["requests"][0]["id"], "req-3");
  EXPECT_TRUE(document["requests"][0]["suspicious"]);
  EXPECT_EQ(document["chain"]["request"], "req-3");
  EXPECT_TRUE(document["stands_out"]["verdict"]["fault_type"].is_null());
  const std::string text = report_text(document, {});
  EXPECT_LT(text.find("What stands out"), text.find("Requests ("));
  EXPECT_LT(text.find("Requests ("), text.find("Chain of step"));
  EXPECT_TRUE(holds(text, "1. request req-3"));
}

TEST_F(ReportTest, ChainIsTheRequestsOwnView) {
  const Json chain = report(make(slow()))["chain"];
  EXPECT_EQ(chain["lowest_layer"], "BE");
  EXPECT_GT(chain["nodes_of_other_requests"], 0);
  bool seen = false;
  for (const Json& line : chain["tree"]) {
    if (line["family"] != "attention") continue;
    seen = true;
    EXPECT_EQ(line["count"], 4);  // one per layer, none of the mates'
    EXPECT_GT(line["deviating"], 0);
  }
  EXPECT_TRUE(seen);
}

TEST_F(ReportTest, HealthyRunSaysSoAndWhatWasLookedAt) {
  const Json document = report(make({}));
  EXPECT_TRUE(document["suspects"].empty());
  const std::string text = report_text(document, {});
  EXPECT_TRUE(holds(text, "Nothing stands out"));
  EXPECT_TRUE(holds(text, "looked at"));
  EXPECT_TRUE(holds(text, "no baseline"));
}

TEST_F(ReportTest, WithoutFindingsItSaysWhatToRun) {
  const Json document = report(make({}, false));
  EXPECT_EQ(document["findings"], "missing");
  EXPECT_TRUE(document["suspects"].empty());
  EXPECT_TRUE(holds(report_text(document, {}), "run teller slice RUN"));
}

TEST_F(ReportTest, StaleFindingsAreNotShown) {
  RunFolder run = make(slow());
  run.manifest()["artifacts"]["chains"]["digest"] = "other";
  const Json document = report(run);
  EXPECT_EQ(document["findings"], "stale");
  EXPECT_TRUE(document["suspects"].empty());
}

TEST_F(ReportTest, WithoutADiagnosisItSaysWhatGivesOne) {
  const Json document = report(make({}));
  EXPECT_EQ(document["diagnosis_status"], "missing");
  EXPECT_TRUE(document["diagnosis"].is_null());
  const std::string text = report_text(document, {});
  EXPECT_TRUE(holds(text, "teller diagnose RUN gives one"));
  EXPECT_LT(text.find("Verdict:"), text.find("Nothing stands out"));
}

TEST_F(ReportTest, StaleDiagnosesAreNotShown) {
  RunFolder run = make({});
  diagnose(run, R"({"format":"teller.diagnosis","version":1,"abnormal":true})");
  run.manifest()["artifacts"]["chains"]["digest"] = "other";
  const Json document = report(run);
  EXPECT_EQ(document["diagnosis_status"], "stale");
  EXPECT_TRUE(document["diagnosis"].is_null());
  const std::string text = report_text(document, {});
  EXPECT_TRUE(holds(text, "older than what it was made from"));
  EXPECT_FALSE(holds(text, "abnormal"));
}

TEST_F(ReportTest, TheVerdictStandsFirst) {
  RunFolder run = make({});
  diagnose(run, R"({"format":"teller.diagnosis","version":1,"abnormal":true,
    "fault_type":"cuda_kernel","probability":0.987654,"prior":0.05,
    "abnormal_steps":[{"step":5,"number":5},{"step":7,"number":7},{"step":6,"number":6},
                      {"step":6,"number":6},{"step":40,"number":40},{"step":41,"number":null}],
    "requests":[{"id":"req-5","role":"culprit","score":4.5}],
    "operators":[{"layer":"BE","name":"attention","request":"req-5","rank":-1,"score":3.25,"steps":1}],
    "evidence":[{"kind":"node","text":"what it did","drop":1.5}],
    "explanation":"It is slow."})");
  const Json document = report(run);
  EXPECT_EQ(document["diagnosis"]["requests"][0]["id"], "req-5");
  const std::string text = report_text(document, {});
  EXPECT_TRUE(holds(text, "Verdict: CUDA/kernel fault\n")) << text;
  EXPECT_TRUE(holds(text, "probability 0.988, at a prior of 0.05\n"));
  EXPECT_TRUE(holds(text, "5 steps: 5-7, 40, #41\n"));
  EXPECT_TRUE(holds(text, "req-5 (culprit, score 4.50)\n"));
  EXPECT_TRUE(holds(text, "BE attention of request req-5 (score 3.25, 1 step)\n"));
  EXPECT_TRUE(holds(text, "what it did – without it the log odds fall by 1.50\n"));
  EXPECT_TRUE(holds(text, "It is slow.\n"));
  EXPECT_LT(text.find("Verdict:"), text.find("Nothing stands out"));
}

TEST_F(ReportTest, ADiagnosisChoosesTheChainWhereNothingElseStandsOut) {
  RunFolder run = make({});
  diagnose(run, R"({"format":"teller.diagnosis","version":1,"abnormal":true,
    "abnormal_steps":[{"step":9,"number":9}],"requests":[{"id":"req-5"}]})");
  Json chain = report(run)["chain"];
  EXPECT_EQ(chain["step"], 9);
  EXPECT_EQ(chain["request"], "req-5");
  diagnose(run, R"({"format":"teller.diagnosis","version":1,"abnormal":false,
    "abnormal_steps":[{"step":9,"number":9}],"requests":[{"id":"req-5"}]})");
  chain = report(run)["chain"];
  EXPECT_TRUE(chain["request"].is_null());
  EXPECT_TRUE(holds(report_text(report(run), {}), "Verdict: healthy\n"));
}

TEST_F(ReportTest, LogLinesStandBesideTheVerdict) {
  RunOptions options;
  options.max_steps = 3;
  ChainsBuilder chains = testing::make_chains(options);
  for (const char* text : {"of step 1", "of step 2"}) {
    chains.logs.time_ns.push_back(chains.steps.begin_ns[1]);
    chains.logs.text.push_back(chains.strings.intern(text));
    chains.logs.stream.push_back(chains.strings.intern("stderr"));
    chains.logs.level.push_back(chains.strings.intern("WARNING"));
    chains.logs.request.push_back(kNoIndex);
    chains.logs.step.push_back(chains.logs.step.empty() ? 1 : 2);
    chains.logs.pid.push_back(1);
    chains.logs.rule.push_back(3);
  }
  RunFolder run = with(chains, false);
  diagnose(run, R"({"format":"teller.diagnosis","version":1,"abnormal":true,
    "abnormal_steps":[{"step":2,"number":2}]})");
  Json lines = report(run)["diagnosis_logs"];
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0]["text"], "of step 2");
  diagnose(run, R"({"format":"teller.diagnosis","version":1,"abnormal":true,
    "evidence":[{"kind":"log","log":0},{"kind":"log","log":99}]})");
  lines = report(run)["diagnosis_logs"];
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0]["text"], "of step 1");
  const std::string text = report_text(report(run), {});
  EXPECT_TRUE(holds(text, "[step 2] of step 1\n")) << text;  // numbers begin at 1
}

TEST_F(ReportTest, RequestAndStepCanBeChosen) {
  const RunFolder run = make({});
  ReportOptions options;
  options.request = "req-5";
  const Json document = report(run, options);
  EXPECT_EQ(document["chain"]["request"], "req-5");
  EXPECT_GT(document["request_steps"].size(), 50U);
  EXPECT_TRUE(holds(report_text(document, {}), "Steps of request req-5"));
  options.request.reset();
  options.step = 7;
  EXPECT_EQ(report(run, options)["chain"]["number"], 7);
  options.step = 99999;
  EXPECT_EQ(build_report(run, options).error().code, ErrorCode::kNotFound);
  options.step.reset();
  options.request = "nobody";
  EXPECT_EQ(build_report(run, options).error().code, ErrorCode::kNotFound);
}

TEST_F(ReportTest, RequestWithoutARowIsInNoStep) {
  // As in a run whose step records cannot be read: known from ranges or log lines alone.
  ChainsBuilder chains;
  chains.requests.id.push_back(chains.strings.intern("r"));
  for (auto* times : {&chains.requests.first_seen_ns, &chains.requests.first_scheduled_ns,
                      &chains.requests.first_token_ns, &chains.requests.last_ns}) {
    times->push_back(-1);
  }
  for (auto* counts :
       {&chains.requests.steps, &chains.requests.waiting_steps, &chains.requests.preemptions}) {
    counts->push_back(0);
  }
  chains.requests.prefill_tokens.push_back(0);
  chains.requests.decode_tokens.push_back(0);
  const RunFolder run = with(chains, false);
  ReportOptions options;
  options.request = "r";
  const std::string text = report_text(report(run, options), {});
  EXPECT_FALSE(holds(text, "Steps of request"));
  EXPECT_TRUE(holds(text, "No step was found"));
}

TEST_F(ReportTest, NoLineIsWiderThanAsked) {
  const Json document = report(make(slow()));
  for (const int width : {80, 100, 140}) {
    const std::string text = report_text(document, {false, width});
    std::size_t begin = 0;
    for (std::size_t end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
      const std::string line = text.substr(begin, end - begin);
      const auto columns = std::count_if(line.begin(), line.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
      });
      EXPECT_LE(columns, width) << line;
    }
  }
}

TEST_F(ReportTest, HostileNamesCannotSteerTheTerminal) {
  RunOptions options;
  options.max_steps = 3;
  ChainsBuilder chains = testing::make_chains(options);
  const std::uint32_t evil = chains.strings.intern(
      "\x1b]0;owned\x07\xc2\x9b"
      "2J\n\xff");
  std::fill(chains.nodes.name.begin(), chains.nodes.name.end(), evil);
  std::fill(chains.nodes.family.begin(), chains.nodes.family.end(), evil);
  std::fill(chains.requests.id.begin(), chains.requests.id.end(), evil);
  chains.logs.time_ns.push_back(chains.steps.begin_ns[0]);
  chains.logs.text.push_back(evil);
  chains.logs.stream.push_back(evil);
  chains.logs.level.push_back(chains.strings.intern("ERROR"));
  chains.logs.request.push_back(0);
  chains.logs.step.push_back(0);
  chains.logs.pid.push_back(1);
  chains.logs.rule.push_back(1);
  RunFolder run = make({}, false);
  ASSERT_TRUE(chains.write(run.file("chains.tcol")));
  ASSERT_TRUE(run.publish({"chains", {"chains.tcol"}, "reconstruct", 0, {}, "{}"}));
  ASSERT_TRUE(slice(run, {}));
  const std::string text = report_text(report(run), {});
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.find('\x07'), std::string::npos);
  EXPECT_EQ(text.find("\xc2\x9b"), std::string::npos);
  EXPECT_EQ(text.find('\xff'), std::string::npos);
  EXPECT_TRUE(holds(text, "\\x1b]0;owned"));
}

TEST_F(ReportTest, NonsenseInFindingsIsNoCrash) {
  const RunFolder run = make(slow());
  const std::string path = run.file("findings.json");
  for (
      const char* text :
      {R"({"format":"teller.findings","version":1})",
       R"({"format":"teller.findings","version":1,"requests":[{"request":1e9,"reasons":[7,{"steps":["x"],"log_lines":[-1]}]}],"run":"no","operators":[3],"instances":{"a":1},"notes":5})"}) {
    ASSERT_TRUE(write_file_atomic(path, text));
    const Json document = report(run);
    EXPECT_FALSE(report_text(document, {}).empty());
  }
  ASSERT_TRUE(write_file_atomic(path, "[]"));
  EXPECT_EQ(build_report(run, {}).error().code, ErrorCode::kCorrupt);
}

TEST_F(ReportTest, NonsenseInADiagnosisIsNoCrash) {
  const RunOptions options = slow();
  RunFolder run = make(options);
  const std::string head = R"({"format":"teller.diagnosis","version":1)";
  for (
      const char* rest :
      {"}", R"(,"abnormal":"yes","requests":7})",
       R"(,"abnormal":true,"fault_type":{"a":[]},"probability":"x","prior":null,"requests":[3,{"id":9}],"abnormal_steps":{"a":1},"operators":[[]],"evidence":"x","culprit_ranks":{},"explanation":[1],"model":"m"})",
       R"(,"abnormal":true,"abnormal_steps":[{"number":-9223372036854775808},{"number":9223372036854775807},{"number":18446744073709551615},{"step":4294967295},{"number":1.5},7],"operators":{"a":{}},"evidence":[{"log":-1},{"log":1e300},null],"requests":{"a":{"id":"req-3"}},"culprit_ranks":[{}],"model":{"sha256":[]},"coverage":{"tokens_known":1e308}})"}) {
    diagnose(run, head + rest);
    const Json document = report(run);
    EXPECT_TRUE(holds(report_text(document, {}), "Verdict: ")) << rest;
  }
  diagnose(run, head + R"(,"abnormal":true,"fault_type":"\u001b[2J","explanation":"\u202e\n"})");
  const std::string text = report_text(report(run), {});
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_TRUE(holds(text, "abnormal, fault type \\x1b[2J")) << text;
  EXPECT_TRUE(holds(text, "\\u202e\\x0a"));
}

TEST_F(ReportTest, WhatIsNoDiagnosisIsRefused) {
  RunFolder run = make({});
  const auto code = [&](const std::string& text) {
    diagnose(run, text);
    return build_report(run, {}).error().code;
  };
  EXPECT_EQ(code("[]"), ErrorCode::kCorrupt);
  EXPECT_EQ(code(R"({"format":"teller.findings","version":1})"), ErrorCode::kCorrupt);
  EXPECT_EQ(code(R"({"format":"teller.diagnosis","version":2})"), ErrorCode::kUnsupported);
  const std::string deep(1'000'000, '[');
  EXPECT_EQ(code(R"({"format":"teller.diagnosis","version":1,"a":)" + deep), ErrorCode::kCorrupt);
}

// Writes `chains` in place of those of a small made run.
RunFolder ReportTest::with(const ChainsBuilder& chains, bool sliced) {
  RunOptions small;
  small.max_steps = 1;
  RunFolder run = make(small, false);
  EXPECT_TRUE(chains.write(run.file("chains.tcol")));
  EXPECT_TRUE(run.publish({"chains", {"chains.tcol"}, "reconstruct", 0, {}, "{}"}));
  if (sliced) {
    EXPECT_TRUE(slice(run, {}));
  }
  return run;
}

// Adds `count` copies of node 1 to the only step; `nested`: each below the one before.
void add_nodes(ChainsBuilder& chains, std::uint32_t count, bool nested) {
  auto& n = chains.nodes;
  const auto repeat = [count](auto& column) {
    const auto value = column[1];
    column.insert(column.end(), count, value);
  };
  const auto first = static_cast<std::uint32_t>(n.parent.size());
  for (std::uint32_t i = 0; i < count; ++i) n.parent.push_back(nested && i > 0 ? first + i - 1 : 0);
  const std::int64_t begin = n.begin_ns[0], end = n.end_ns[0];
  for (std::uint32_t i = 0; i < count; ++i) {
    n.begin_ns.push_back(nested ? begin + i : begin + i * 10);
    n.end_ns.push_back(nested ? end + count - i : begin + i * 10 + 5);
  }
  repeat(n.step), repeat(n.name), repeat(n.family), repeat(n.track), repeat(n.request);
  repeat(n.value), repeat(n.source), repeat(n.flags), repeat(n.layer);
  chains.steps.node_count[0] += count;
}

TEST_F(ReportTest, AMillionLevelsAndAMillionSiblingsAreNoCrash) {
  constexpr std::uint32_t kMany = 1'000'000;
  RunOptions options;
  options.max_steps = 1;
  for (const bool nested : {true, false}) {
    ChainsBuilder chains = testing::make_chains(options);
    add_nodes(chains, kMany, nested);
    if (nested) chains.nodes.flags.back() |= kNodeFailed;  // what is at the bottom is shown
    const RunFolder run = with(chains, true);
    const Json document = report(run);
    EXPECT_LE(document["chain"]["tree"].size(), 60U);
    const std::string text = report_text(document, {});
    EXPECT_LT(text.size(), 50'000U);
    EXPECT_EQ(holds(text, "levels left out"), nested) << text;
    std::filesystem::remove_all(dir_.file("run"));
  }
}

TEST_F(ReportTest, ExtremeTimesDoNotOverflow) {
  RunOptions options;
  options.max_steps = 3;
  ChainsBuilder chains = testing::make_chains(options);
  for (auto* column : {&chains.nodes.begin_ns, &chains.steps.begin_ns}) {
    std::fill(column->begin(), column->end(), -kTimeLimitNs);
  }
  for (auto* column : {&chains.nodes.end_ns, &chains.steps.end_ns, &chains.steps.last_ns,
                       &chains.requests.last_ns}) {
    std::fill(column->begin(), column->end(), kTimeLimitNs);
  }
  std::fill(chains.rows.computed.begin(), chains.rows.computed.end(), INT64_MAX);
  const Json document = report(with(chains, true));
  EXPECT_FALSE(report_text(document, {}).empty());
  EXPECT_EQ(document["run"]["duration_ns"], 2 * kTimeLimitNs);
  for (const Json& line : document["chain"]["tree"]) {
    EXPECT_GE(line["duration_ns"], 0);
    EXPECT_GE(line["share"], 0);
  }
}

TEST_F(ReportTest, ALevelIsShownOnce) {
  RunOptions options;
  options.max_steps = 1;
  ChainsBuilder chains = testing::make_chains(options);
  chains.logs.time_ns.push_back(chains.steps.begin_ns[0]);
  chains.logs.text.push_back(chains.strings.intern("ERROR: no block"));
  chains.logs.stream.push_back(chains.strings.intern("stderr"));
  chains.logs.level.push_back(chains.strings.intern("ERROR"));
  chains.logs.request.push_back(0);
  chains.logs.step.push_back(0);
  chains.logs.pid.push_back(1);
  chains.logs.rule.push_back(1);
  const std::string text = report_text(report(with(chains, false)), {});
  const std::size_t at = text.find("ERROR");
  ASSERT_NE(at, std::string::npos);
  EXPECT_EQ(text.find("ERROR", at + 1), std::string::npos) << text;
  EXPECT_TRUE(holds(text, "1 step, "));
  EXPECT_FALSE(holds(text, "1 steps"));
}

}  // namespace
}  // namespace teller
