#include "learn/diagnose.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "learn/explain.h"
#include "learn/judge.h"
#include "run_folder/diagnosis_file.h"
#include "run_folder/locator.h"

namespace teller::learn_detail {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostOperators = 50;
constexpr std::size_t kMostSteps = 2000;

Json steps_json(const Findings& f) {
  Json list = Json::array();
  const Chains& chains = f.judged.run->chains;
  for (const std::size_t unit : f.verdict.abnormal_units) {
    if (list.size() == kMostSteps) break;
    const Sample& sample = *f.judged.samples[unit];
    const Prediction& prediction = *f.judged.predictions[unit];
    const std::int64_t number = chains.steps.number[sample.step];
    list.push_back({{"step", sample.step},
                    {"number", number >= 0 ? Json(number) : Json()},
                    {"view", view_name(sample.view)},
                    {"probability", rounded(sigmoid(prediction.abnormal))},
                    {"fault_type", fault_type_name(likeliest_type(prediction))}});
  }
  return list;
}

Json operators_json(const Findings& f, const RunName& name) {
  Json list = Json::array();
  const Chains& chains = f.judged.run->chains;
  for (const OperatorVerdict& op : f.operators) {
    if (list.size() == kMostOperators) break;
    Json json = locator(chains, name, op.node);
    const std::uint32_t request = chains.nodes.request[op.node];
    json["request"] =
        request == kNoIndex ? Json() : Json(chains.string(chains.requests.id[request]));
    json["score"] = rounded(op.score);
    json["steps"] = op.units;
    list.push_back(std::move(json));
  }
  return list;
}

Json requests_json(const Findings& f) {
  Json list = Json::array();
  const Chains& chains = f.judged.run->chains;
  for (const RequestVerdict& one : f.requests) {
    list.push_back({{"id", chains.string(chains.requests.id[one.request])},
                    {"role", request_role(f, one.request)},
                    {"score", rounded(one.score)}});
  }
  return list;
}

Json evidence_json(const Findings& f, const RunName& name) {
  Json list = Json::array();
  const Chains& chains = f.judged.run->chains;
  for (const Evidence& one : f.evidence) {
    Json json = {{"kind", one.is_log ? "log" : "node"},
                 {"text", describe(f.judged, one)},
                 {"drop", rounded(one.drop)}};
    if (one.is_log) {
      json["log"] = one.line;
      json["line"] = chains.string(chains.logs.text[one.line]);
      json["step"] = f.judged.samples[one.unit]->step;
    } else {
      json["locator"] = locator(chains, name, node_of_token(*f.judged.run, one.token));
    }
    list.push_back(std::move(json));
  }
  return list;
}

// How much of the run the model could judge: tokens whose name it knows, and nodes of which stage 3
// expects something.
struct Coverage {
  std::size_t tokens = 0, named = 0, expected = 0;
};

Coverage coverage_of(const Judged& judged) {
  Coverage coverage;
  for (const Sample* sample : judged.samples) {
    for (std::size_t i = 0; i < sample->ids.size(); ++i) {
      ++coverage.tokens;
      if (sample->ids[i] > 1) ++coverage.named;
      const auto& features = sample->features[i];
      if (features[kExpected] > 0 || features[kScheduled] > 0) ++coverage.expected;
    }
  }
  return coverage;
}

Json coverage_json(const Judged& judged) {
  const Coverage coverage = coverage_of(judged);
  const double all = static_cast<double>(std::max<std::size_t>(coverage.tokens, 1));
  return {{"units", judged.samples.size()},
          {"tokens", coverage.tokens},
          {"tokens_known", rounded(static_cast<double>(coverage.named) / all)},
          {"tokens_with_expectation", rounded(static_cast<double>(coverage.expected) / all)}};
}

Json first_seen_json(const Findings& f) {
  if (!f.verdict.abnormal || f.verdict.agreeing_units.empty()) return nullptr;
  const Chains& chains = f.judged.run->chains;
  const std::uint32_t step = f.judged.samples[f.verdict.agreeing_units.front()]->step;
  const std::int64_t number = chains.steps.number[step];
  return {{"step", step},
          {"number", number >= 0 ? Json(number) : Json()},
          {"start_ns", chains.steps.begin_ns[step]}};
}

std::string_view fault_name(const RunVerdict& verdict) {
  if (!verdict.abnormal) return fault_type_name(FaultType::kNone);
  return verdict.unknown ? "unknown" : fault_type_name(verdict.type);
}

Json probabilities_json(const RunVerdict& verdict, double probability) {
  double sum = 0;
  for (const double s : verdict.support) sum += s;
  Json json = {{"none", rounded(1 - probability)}};
  for (std::size_t c = 0; c < verdict.support.size(); ++c) {
    const double share = sum > 0 ? verdict.support[c] / sum : 1.0 / kCategories;
    json[std::string(fault_type_name(static_cast<FaultType>(c + 1)))] =
        rounded(probability * share);
  }
  return json;
}

Json diagnosis_json(const Findings& f, const Bundle& bundle, const RunName& name, double prior) {
  Json json;
  json["format"] = "teller.diagnosis";
  json["version"] = 1;
  json["run_name"] = name.run;
  json["model"] = {{"name", bundle.name}, {"sha256", bundle.sha256}};
  json["abnormal"] = f.verdict.abnormal;
  // No fault that was looked for in vain is no healthy run: without expected values nobody can
  // tell.
  json["judged"] = f.comparable;
  json["fault_type"] = fault_name(f.verdict);
  json["probability"] = rounded(f.probability);
  json["probabilities"] = probabilities_json(f.verdict, f.probability);
  json["prior"] = rounded(prior);
  json["abnormal_steps"] = steps_json(f);
  json["steps_that_agree"] = f.verdict.agreeing_units.size();
  json["operators"] = operators_json(f, name);
  json["requests"] = requests_json(f);
  json["culprit_ranks"] = Json::array();
  for (const auto& [rank, score] : f.ranks) json["culprit_ranks"].push_back(rank);
  json["culprit_link"] = nullptr;
  json["uniform"] = f.verdict.abnormal ? Json(f.requests.empty() && f.ranks.size() != 1) : Json();
  json["first_seen"] = first_seen_json(f);
  json["evidence"] = evidence_json(f, name);
  json["explanation"] = explain(f);
  json["coverage"] = coverage_json(f.judged);
  return json;
}

Status publish(RunFolder& run, const Json& diagnosis, const Bundle& bundle, double prior) {
  return publish_diagnosis(run, diagnosis, {"chains", "slices", "tokens"},
                           Json({{"model", bundle.sha256}, {"prior", rounded(prior)}}).dump());
}

Findings find(const Network& network, const Judged& judged, const RunVerdict& verdict,
              const Bundle& bundle, double prior) {
  Findings f{judged, verdict, run_probability(verdict, bundle.calibration, prior), true, {}, {},
             {},     {}};
  if (!verdict.abnormal) {
    f.comparable = coverage_of(judged).expected > 0;
    if (!f.comparable) f.probability = prior;
    return f;
  }
  f.operators = rank_operators(judged, verdict, bundle.thresholds);
  f.requests = named_requests(rank_requests(judged, verdict, bundle.thresholds), bundle.thresholds);
  f.ranks = rank_ranks(judged, verdict, bundle.thresholds);
  f.evidence = find_evidence(network, judged, verdict, bundle.thresholds);
  return f;
}

}  // namespace

Result<JsonResult> diagnose_run(RunFolder& folder, const DiagnoseOptions& options) {
  if (!(options.prior > 0 && options.prior < 1)) {
    return Error{ErrorCode::kUsage, "diagnose: --prior must lie between 0 and 1", ""};
  }
  TELLER_CHECK_OK(Network::check_threads("diagnose", options.threads));
  Network::set_threads(options.threads);
  TELLER_TRY(const LoadedBundle loaded, load_bundle(options.bundle));
  TELLER_TRY(const RunInput run, open_run(folder.path(), false));
  TELLER_CHECK_OK(check_tokens(run, loaded.bundle, "diagnosing"));
  const std::vector<Sample> samples = make_samples(run, 0, loaded.bundle.words);
  if (samples.empty()) {
    return Error{ErrorCode::kUnsupported, "diagnosing run " + folder.path() + ": it has no step",
                 "a verdict needs engine steps: trace with hooks for the engine, or with ranges "
                 "called step"};
  }
  const JudgedRuns judged = judge_samples(loaded.network, {&run}, {&samples});
  const RunVerdict verdict = judge_run(judged.runs[0], loaded.bundle.thresholds);
  const Findings findings =
      find(loaded.network, judged.runs[0], verdict, loaded.bundle, options.prior);
  Json json = diagnosis_json(findings, loaded.bundle, run_name(folder), options.prior);
  TELLER_CHECK_OK(publish(folder, json, loaded.bundle, options.prior));
  return std::make_shared<const Json>(std::move(json));
}

}  // namespace teller::learn_detail
