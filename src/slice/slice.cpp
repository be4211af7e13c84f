#include "slice/slice.h"

#include <algorithm>
#include <csignal>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/file.h"
#include "run_folder/open_chains.h"
#include "slice/cut.h"
#include "slice/findings_json.h"
#include "slice/learn.h"
#include "slice/run_signs.h"

namespace teller {
namespace slice_detail {
namespace {

constexpr const char* kFindingsFile = "findings.json";
constexpr const char* kSlicesFile = "slices.tcol";

// Whether the traced program ended otherwise than by itself or on request (SIGINT, SIGTERM).
bool broke_off(const Json& manifest) {
  const Json target = manifest.value("target", Json::object());
  if (!target.is_object()) return false;
  const Json signal = target.value("signal", Json());
  const Json code = target.value("exit_code", Json());
  if (signal.is_number_integer()) return signal != SIGINT && signal != SIGTERM;
  return code.is_number_integer() && code != 0 && code != 128 + SIGINT && code != 128 + SIGTERM;
}

// Keys of the run that nothing is expected of.
void note_unknown_keys(const Case& c, Findings& findings) {
  if (c.observations.empty()) {
    findings.notes.push_back("no step holds any operator: operators were not judged");
    return;
  }
  std::vector<bool> seen(c.keys.size(), false);
  for (const Observation& o : c.observations) seen[o.key] = true;
  std::size_t all = 0, unknown = 0;
  for (std::uint32_t id = 0; id < c.keys.size(); ++id) {
    if (!seen[id]) continue;
    ++all;
    if (!c.baseline.models[id].self.known()) ++unknown;
  }
  if (unknown == 0) return;
  const std::string where = c.baseline.external ? "the baseline" : "this run";
  std::string note = std::to_string(unknown) + " of " + std::to_string(all) +
                     " operator kinds were seen in fewer than " +
                     std::to_string(c.options.min_baseline_steps) + " steps of " + where +
                     ": no expected value, not judged";
  if (!c.baseline.external && unknown == all) {
    note = "a baseline is needed: this run has too few steps (" +
           std::to_string(c.chains.step_count()) +
           ") to be compared with itself (give healthy runs "
           "with --baseline)";
  }
  findings.notes.push_back(note);
}

Json options_json(const SliceOptions& options) {
  return {{"min_ratio", options.min_ratio},
          {"min_family_ratio", options.min_family_ratio},
          {"min_run_ratio", options.min_run_ratio},
          {"min_z", options.min_z},
          {"min_steps", options.min_steps},
          {"min_passed_over", options.min_passed_over},
          {"min_preemptions", options.min_preemptions},
          {"min_baseline_steps", options.min_baseline_steps},
          {"max_instances", options.max_instances}};
}

Status publish(RunFolder& run, const Json& findings, std::size_t records) {
  const std::string text = findings.dump(1, ' ', true, Json::error_handler_t::replace) + "\n";
  TELLER_CHECK_OK(write_file_atomic(run.file(kFindingsFile), text));
  Json options = findings["options"];
  options["baseline"] = findings["baseline"];
  ArtifactInfo info;
  info.name = "findings";
  info.files = {kFindingsFile};
  info.made_by = "slice";
  info.records = records;
  info.from = {"chains"};
  info.options_json = options.dump(-1, ' ', true, Json::error_handler_t::replace);
  return run.publish(info);
}

Json slice_options_json(const SliceOptions& options) {
  return {{"suspicion_z", options.suspicion_z},
          {"alpha", options.weights.alpha},
          {"beta", options.weights.beta},
          {"gamma", options.weights.gamma},
          {"eta", options.weights.eta},
          {"tau0_us", options.weights.tau_ns / 1000},
          {"kappa", options.weights.kappa},
          {"ancestors", options.weights.ancestors},
          {"skeleton_levels", options.skeleton_levels},
          {"max_nodes", options.max_nodes},
          {"min_baseline_steps", options.min_baseline_steps}};
}

Status publish_slices(RunFolder& run, const SlicesBuilder& slices, const SliceOptions& options,
                      const Json& baseline) {
  TELLER_CHECK_OK(slices.write(run.file(kSlicesFile)));
  Json stored = slice_options_json(options);
  stored["baseline"] = baseline;
  ArtifactInfo info;
  info.name = "slices";
  info.files = {kSlicesFile};
  info.made_by = "slice";
  info.records = slices.nodes.node.size();
  info.from = {"chains"};
  info.options_json = stored.dump(-1, ' ', true, Json::error_handler_t::replace);
  return run.publish(info);
}

// Cuts and publishes the slices.
Result<SliceResult> cut(RunFolder& run, const Case& c, const Findings& findings,
                        const Json& baseline) {
  CutCounts counts;
  const SlicesBuilder slices = cut_slices(c, findings, counts);
  TELLER_CHECK_OK(publish_slices(run, slices, c.options, baseline));
  SliceResult result;
  result.units = slices.units.view.size();
  result.horizontal_units =
      static_cast<std::size_t>(std::count(slices.units.view.begin(), slices.units.view.end(),
                                          static_cast<std::uint8_t>(View::kHorizontal)));
  result.suspicious_units = counts.suspicious_units;
  result.whole_nodes = counts.whole_nodes;
  result.kept_nodes = counts.kept_nodes;
  result.over_limit = counts.over_limit;
  return result;
}

Status check_weights(const SliceOptions& o) {
  const RelevanceWeights& w = o.weights;
  for (const double value : {w.alpha, w.beta, w.gamma, w.eta, w.kappa}) {
    if (!(value >= 0 && value <= 1e6)) {
      return Error{ErrorCode::kUsage, "slice: a weight must lie between 0 and 1000000", ""};
    }
  }
  if (!(w.tau_ns > 0 && w.tau_ns <= 1e18) || !(o.suspicion_z > 0) || o.max_nodes == 0) {
    return Error{ErrorCode::kUsage,
                 "slice: --tau0, --suspicion-z and --max-nodes must be larger than 0", ""};
  }
  return {};
}

Status check_options(const SliceOptions& o) {
  const auto above = [](double value, double least) { return value > least; };  // false for NaN
  if (!above(o.min_ratio, 1) || !above(o.min_family_ratio, 1) || !above(o.min_run_ratio, 1)) {
    return Error{ErrorCode::kUsage, "slice: a ratio must be larger than 1", ""};
  }
  if (o.min_steps == 0 || o.min_passed_over == 0 || o.min_preemptions == 0 ||
      o.min_baseline_steps == 0 || !above(o.min_z, 0)) {
    return Error{ErrorCode::kUsage, "slice: a threshold must be larger than 0", ""};
  }
  return {};
}

}  // namespace
}  // namespace slice_detail

Result<SliceResult> slice(RunFolder& run, const SliceOptions& options) {
  using namespace slice_detail;  // NOLINT: this file's own parts
  TELLER_CHECK_OK(check_options(options));
  TELLER_CHECK_OK(check_weights(options));
  TELLER_TRY(const Chains chains, open_chains(run));
  KeyTable keys;
  const LearnRun own = learn_run(chains, keys, folder_name(run.path()), digest_of(run));
  TELLER_TRY(Learnt learnt, learn(own, keys, options));
  const Baseline& baseline = learnt.baseline;
  const Case c{chains, keys, own.observations, baseline, options};
  Findings findings;
  findings.notes = learnt.notes;
  note_unknown_keys(c, findings);
  judge_schedule(chains, baseline.norm, options, findings);
  judge_mates(c, findings);
  judge_families(c, findings);
  judge_run(chains, baseline.external ? &baseline.failures : nullptr, broke_off(run.manifest()),
            findings);
  list_instances(c, findings);
  const RunName name = run_name(run);
  Json json;
  json["format"] = "teller.findings";
  json["version"] = 1;
  json["run_name"] = name.run;
  json["options"] = options_json(options);
  json["baseline"] = learnt.provenance;
  json.update(findings_json(c, name, findings));
  TELLER_CHECK_OK(publish(
      run, json, findings.requests.size() + findings.operators.size() + findings.run.size()));
  TELLER_TRY(SliceResult result, cut(run, c, findings, json["baseline"]));
  TELLER_CHECK_OK(run.save());
  result.suspicious = is_suspicious(findings);
  result.findings = std::make_shared<const Json>(std::move(json));
  return result;
}

}  // namespace teller
