#include "slice/slice.h"

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/file.h"
#include "run_folder/open_chains.h"
#include "slice/cut.h"
#include "slice/findings_json.h"
#include "slice/run_signs.h"

namespace teller {
namespace slice_detail {
namespace {

constexpr const char* kFindingsFile = "findings.json";
constexpr const char* kSlicesFile = "slices.tcol";

std::string digest_of(const RunFolder& run) {
  const Json artifacts = run.manifest().value("artifacts", Json::object());
  const Json chains = artifacts.value("chains", Json::object());
  const Json digest = chains.is_object() ? chains.value("digest", Json()) : Json();
  return digest.is_string() ? digest.get<std::string>() : "";
}

std::string text_of(const Json& object, const char* key) {
  const Json value = object.is_object() ? object.value(key, Json()) : Json();
  return value.is_string() ? value.get<std::string>() : "";
}

std::string folder_name(const std::string& path) {
  const auto absolute = std::filesystem::path(path).lexically_normal();
  const auto name =
      absolute.has_filename() ? absolute.filename() : absolute.parent_path().filename();
  return name.string();
}

// Whether the traced program ended otherwise than by itself or on request (SIGINT, SIGTERM).
bool broke_off(const Json& manifest) {
  const Json target = manifest.value("target", Json::object());
  if (!target.is_object()) return false;
  const Json signal = target.value("signal", Json());
  const Json code = target.value("exit_code", Json());
  if (signal.is_number_integer()) return signal != SIGINT && signal != SIGTERM;
  return code.is_number_integer() && code != 0 && code != 128 + SIGINT && code != 128 + SIGTERM;
}

// A healthy run that was given as baseline.
struct HealthyRun {
  std::string name;
  std::string digest;
  Chains chains;
  std::vector<Observation> observations;
  std::vector<SideValue> sides;
};

Result<HealthyRun> open_healthy(const std::string& path, const std::string& own_digest,
                                KeyTable& keys) {
  auto folder = RunFolder::open(path);
  if (!folder) {
    folder.error().message = "baseline: " + folder.error().message;
    return folder.error();
  }
  auto chains = open_chains(*folder);
  if (!chains) {
    chains.error().message = "baseline: " + chains.error().message;
    return chains.error();
  }
  const std::string digest = digest_of(*folder);
  if (!digest.empty() && digest == own_digest) {
    return Error{ErrorCode::kUsage, "baseline " + path + ": it is the run itself, or a copy of it",
                 "give another run of the same deployment that was healthy"};
  }
  HealthyRun run{folder_name(path), digest, std::move(*chains), {}, {}};
  run.observations = observe(run.chains, keys);
  run.sides = side_values(run.chains, run.observations);
  return run;
}

std::vector<Lesson> lessons(const std::vector<HealthyRun>& healthy,
                            const std::vector<Observation>& own, std::size_t own_steps) {
  std::vector<Lesson> list;
  for (const HealthyRun& run : healthy) {
    list.push_back({&run.observations, run.chains.step_count()});
  }
  if (list.empty()) list.push_back({&own, own_steps});
  return list;
}

// What healthy requests show against their mates; the run itself helps with what comes of being
// first in a step, for a defect of one request does not move a median over requests.
void learn_mates(Baseline& baseline, const std::vector<HealthyRun>& healthy,
                 const std::vector<Observation>& own, const KeyTable& keys,
                 const SliceOptions& options) {
  const std::vector<Fit> fits = baseline.duration_fits();
  std::vector<std::vector<MateSeries>> series;
  for (const HealthyRun& run : healthy) {
    series.push_back(compare_mates(run.observations, keys, fits));
  }
  series.push_back(compare_mates(own, keys, fits));
  std::vector<const std::vector<MateSeries>*> all;
  for (const auto& one : series) all.push_back(&one);
  baseline.first_effect = learn_first_effect(all, keys.size());
  series.pop_back();
  baseline.mates.resize(keys.size());
  for (auto& one : series) {
    remove_first_effect(one, baseline.first_effect);
    widen_mates(baseline, one, options.min_steps);
  }
}

void compare_presence(Baseline& baseline, const std::vector<HealthyRun>& healthy,
                      const Chains& chains, const std::vector<Observation>& own,
                      const KeyTable& keys) {
  if (healthy.empty()) return;
  TokenRanges here = no_ranges(), there = no_ranges();
  widen(here, own, keys);
  for (const HealthyRun& run : healthy) widen(there, run.observations, keys);
  const TokenRanges both = overlap(here, there);
  count_presence(baseline.run, chains, own, keys, both);
  for (const HealthyRun& run : healthy) {
    count_presence(baseline.healthy, run.chains, run.observations, keys, both);
  }
}

// What only slices need.
void learn_slices(Baseline& baseline, const std::vector<HealthyRun>& healthy, const Chains& chains,
                  const std::vector<Observation>& own, const KeyTable& keys,
                  const SliceOptions& options) {
  std::vector<SideLesson> sides;
  for (const HealthyRun& run : healthy) sides.push_back({&run.observations, &run.sides});
  std::vector<SideValue> own_sides;
  if (healthy.empty()) {
    own_sides = side_values(chains, own);
    sides.push_back({&own, &own_sides});
  }
  baseline.sides = learn_sides(sides, keys.size(), options.min_baseline_steps);
  for (const HealthyRun& run : healthy) {
    count_kinds(baseline.kinds, run.chains, run.observations, keys);
  }
}

Baseline learn(const std::vector<HealthyRun>& healthy, const Chains& chains,
               const std::vector<Observation>& own, const KeyTable& keys,
               const SliceOptions& options) {
  Baseline baseline;
  baseline.external = !healthy.empty();
  baseline.models =
      learn_keys(lessons(healthy, own, chains.step_count()), keys, options.min_baseline_steps);
  learn_mates(baseline, healthy, own, keys, options);
  for (const HealthyRun& run : healthy) {
    widen(baseline.norm, read_schedule(run.chains));
  }
  compare_presence(baseline, healthy, chains, own, keys);
  learn_slices(baseline, healthy, chains, own, keys, options);
  return baseline;
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

Json baseline_json(const std::vector<HealthyRun>& healthy) {
  Json json;
  json["from"] = healthy.empty() ? "run" : "baseline";
  json["runs"] = Json::array();
  for (const HealthyRun& run : healthy) {
    json["runs"].push_back({{"name", run.name},
                            {"chains", run.digest},
                            {"steps", run.chains.step_count()},
                            {"requests", run.chains.request_count()}});
  }
  return json;
}

FailureRates usual_failures(const std::vector<HealthyRun>& healthy) {
  FailureRates usual;
  for (const HealthyRun& run : healthy) {
    for (const auto& [what, rate] : failure_rates(run.chains)) {
      usual[what] = std::max(usual[what], rate);
    }
  }
  return usual;
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
Result<SliceResult> cut(RunFolder& run, const Case& c, const Json& baseline) {
  CutCounts counts;
  const SlicesBuilder slices = cut_slices(c, counts);
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
  if (o.min_ratio <= 1 || o.min_family_ratio <= 1 || o.min_run_ratio <= 1) {
    return Error{ErrorCode::kUsage, "slice: a ratio must be larger than 1", ""};
  }
  if (o.min_steps == 0 || o.min_passed_over == 0 || o.min_preemptions == 0 ||
      o.min_baseline_steps == 0 || o.min_z <= 0) {
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
  const std::vector<Observation> observations = observe(chains, keys);
  std::vector<HealthyRun> healthy;
  for (const std::string& path : options.baselines) {
    TELLER_TRY(HealthyRun one, open_healthy(path, digest_of(run), keys));
    healthy.push_back(std::move(one));
  }
  const Baseline baseline = learn(healthy, chains, observations, keys, options);
  const Case c{chains, keys, observations, baseline, options};
  Findings findings;
  note_unknown_keys(c, findings);
  judge_schedule(chains, baseline.norm, options, findings);
  judge_mates(c, findings);
  judge_families(c, findings);
  const FailureRates usual = usual_failures(healthy);
  judge_run(chains, healthy.empty() ? nullptr : &usual, broke_off(run.manifest()), findings);
  list_instances(c, findings);
  const Json host = run.manifest().value("host", Json::object());
  const RunName name{folder_name(run.path()), text_of(host, "name")};
  Json json;
  json["format"] = "teller.findings";
  json["version"] = 1;
  json["run_name"] = name.run;
  json["options"] = options_json(options);
  json["baseline"] = baseline_json(healthy);
  json.update(findings_json(c, name, findings));
  TELLER_CHECK_OK(publish(
      run, json, findings.requests.size() + findings.operators.size() + findings.run.size()));
  TELLER_TRY(SliceResult result, cut(run, c, json["baseline"]));
  TELLER_CHECK_OK(run.save());
  result.suspicious = is_suspicious(findings);
  result.findings = std::make_shared<const Json>(std::move(json));
  return result;
}

}  // namespace teller
