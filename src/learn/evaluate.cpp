#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "learn/bundle.h"
#include "learn/diagnose.h"
#include "learn/judge.h"
#include "run_folder/locator.h"

namespace teller::learn_detail {

namespace {

using Json = nlohmann::ordered_json;

Json set_json(const OperatorSet& set) {
  Json list = Json::array();
  for (const auto& [layer, family, rank] : set) {
    list.push_back({layer_name(static_cast<Layer>(layer)), family, rank});
  }
  return list;
}

// One line per labelled unit: what is true and what the model says, for comparisons elsewhere.
void add_units(const Judged& judged, const Thresholds& thresholds, std::string& text) {
  const std::vector<const StepLabel*> labels = labels_of_units(*judged.run);
  const RunLabel& run = judged.run->labels.run;
  for (std::size_t i = 0; i < judged.samples.size(); ++i) {
    const Sample& sample = *judged.samples[i];
    const StepLabel* label = labels[sample.unit];
    if (label == nullptr) continue;
    const Prediction& prediction = *judged.predictions[i];
    const Json line = {{"run", judged.run->name},
                       {"stack", run.stack},
                       {"mechanism", run.mechanism},
                       {"run_fault_type", fault_type_name(run.fault_type)},
                       {"view", view_name(sample.view)},
                       {"unit", sample.unit},
                       {"step", sample.step},
                       {"state", step_state_name(label->state)},
                       {"fault_type", fault_type_name(label->fault_type)},
                       {"visible_in", label->visible_in},
                       {"logit", rounded(prediction.abnormal)},
                       {"abnormal", prediction.abnormal >= thresholds.step},
                       {"said_type", fault_type_name(likeliest_type(prediction))},
                       {"operators", set_json(labelled_operators(*label))},
                       {"said_operators", set_json(named_operators(*judged.run, sample, prediction,
                                                                   thresholds.pointer))}};
    text += line.dump(-1, ' ', true, Json::error_handler_t::replace) + "\n";
  }
}

Status check_unseen(const RunInput& run, const Bundle& bundle, bool allow_seen) {
  const bool seen = std::binary_search(bundle.seen.begin(), bundle.seen.end(), run.digest);
  if (!seen || allow_seen) return {};
  return Error{ErrorCode::kUsage, "evaluating on run " + run.path + ": the model was trained on it",
               "give runs that it has not seen, or --allow-seen"};
}

Json runs_json(const std::vector<Judged>& runs, const Bundle& bundle) {
  Json list = Json::array();
  for (const Judged& run : runs) {
    const RunVerdict verdict = judge_run(run, bundle.thresholds);
    const RunLabel& truth = run.run->labels.run;
    list.push_back({{"run", run.run->name},
                    {"stack", truth.stack},
                    {"mechanism", truth.mechanism},
                    {"magnitude", truth.magnitude},
                    {"fault_type", fault_type_name(truth.fault_type)},
                    {"abnormal", verdict.abnormal},
                    {"said", !verdict.abnormal ? "none"
                             : verdict.unknown ? "unknown"
                                               : fault_type_name(verdict.type)},
                    {"probability", rounded(run_probability(verdict, bundle.calibration,
                                                            bundle.calibration.prior))},
                    {"right", judged_right(run, verdict)}});
  }
  return list;
}

}  // namespace

Result<JsonResult> evaluate_runs(const EvalOptions& options) {
  if (options.runs.empty()) {
    return Error{ErrorCode::kUsage, "eval: no runs were given", "see teller eval --help"};
  }
  TELLER_CHECK_OK(Network::check_threads("eval", options.threads));
  Network::set_threads(options.threads);
  TELLER_TRY(const LoadedBundle loaded, load_bundle(options.bundle));
  std::vector<RunInput> inputs;
  for (const std::string& path : options.runs) {
    TELLER_TRY(RunInput run, open_run(path, true));
    TELLER_CHECK_OK(check_unseen(run, loaded.bundle, options.allow_seen));
    TELLER_CHECK_OK(check_tokens(run, loaded.bundle, "evaluating on"));
    inputs.push_back(std::move(run));
  }
  std::vector<std::vector<Sample>> samples;
  for (std::uint32_t i = 0; i < inputs.size(); ++i) {
    samples.push_back(make_samples(inputs[i], i, loaded.bundle.words));
  }
  std::vector<const RunInput*> runs;
  std::vector<const std::vector<Sample>*> lists;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    runs.push_back(&inputs[i]);
    lists.push_back(&samples[i]);
  }
  const JudgedRuns judged = judge_samples(loaded.network, runs, lists);
  Json json = {{"format", "teller.eval"},
               {"version", 1},
               {"model", {{"name", loaded.bundle.name}, {"sha256", loaded.bundle.sha256}}}};
  json.update(measure(judged.runs, loaded.bundle.thresholds, &loaded.bundle.calibration));
  json["each"] = runs_json(judged.runs, loaded.bundle);
  if (!options.per_step_file.empty()) {
    std::string text;
    for (const Judged& run : judged.runs) add_units(run, loaded.bundle.thresholds, text);
    TELLER_CHECK_OK(write_file_atomic(options.per_step_file, text));
  }
  return std::make_shared<const Json>(std::move(json));
}

}  // namespace teller::learn_detail
