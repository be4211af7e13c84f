#include "learn/judge.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "learn/metrics.h"
#include "run_folder/locator.h"

namespace teller::learn_detail {

namespace {

using Json = nlohmann::ordered_json;

Json to_json(const StepScores& s) {
  return {{"positives", s.positives},        {"negatives", s.negatives},
          {"accuracy", rounded(s.accuracy)}, {"precision", rounded(s.precision)},
          {"recall", rounded(s.recall)},     {"f1", rounded(s.f1)},
          {"auroc", rounded(s.auroc)},       {"auprc", rounded(s.auprc)}};
}

Json to_json(const SetScores& s) {
  return {{"units", s.units},
          {"precision", rounded(s.precision)},
          {"recall", rounded(s.recall)},
          {"f1", rounded(s.f1)},
          {"jaccard", rounded(s.jaccard)}};
}

Json to_json(const OperatorScores& s) {
  return {
      {"macro", to_json(s.macro)}, {"all", to_json(s.all)}, {"macro_plus", to_json(s.macro_plus)}};
}

Json to_json(const ClassScores& s) {
  return {{"count", s.count},
          {"accuracy", rounded(s.accuracy)},
          {"macro_recall", rounded(s.macro_recall)},
          {"macro_f1", rounded(s.macro_f1)},
          {"confusion", s.confusion}};
}

Json measure_view(const std::vector<Judged>& runs, View view, const Thresholds& thresholds) {
  std::vector<bool> truth;
  std::vector<double> scores;
  std::vector<OperatorSet> predicted, named;
  std::size_t weak = 0, affected = 0, unseen = 0;
  for (const Judged& run : runs) {
    const std::vector<const StepLabel*> labels = labels_of_units(*run.run);
    for (std::size_t i = 0; i < run.samples.size(); ++i) {
      const Sample& sample = *run.samples[i];
      if (sample.view != view || labels[sample.unit] == nullptr) continue;
      const StepLabel& label = *labels[sample.unit];
      if (label.state == StepState::kWeak) ++weak;
      if (label.state == StepState::kAffected) ++affected;
      const bool scored = label.state == StepState::kCause || label.state == StepState::kNormal;
      if (label.visible_in == "none" && scored) ++unseen;
      if (!scored || label.visible_in == "none") continue;
      const double score = run.predictions[i]->abnormal;
      truth.push_back(label.state == StepState::kCause);
      scores.push_back(score);
      named.push_back(truth.back() ? labelled_operators(label) : OperatorSet{});
      OperatorSet said;
      if (score >= thresholds.step) {
        said = named_operators(*run.run, sample, *run.predictions[i], thresholds.pointer);
      }
      predicted.push_back(ranks_as_in(named.back(), said));
    }
  }
  return {{"step", to_json(step_scores(truth, scores, thresholds.step))},
          {"operators", to_json(operator_scores(predicted, named))},
          {"left_out", {{"weak", weak}, {"affected", affected}, {"not_visible", unseen}}}};
}

// Class of a verdict: a fault type, or "unknown" as the class after them.
std::size_t class_of(const RunVerdict& verdict) {
  if (!verdict.abnormal) return 0;
  return verdict.unknown ? kFaultTypeCount : static_cast<std::size_t>(verdict.type);
}

// Requests that the verdict concerns: those named, or where none is, all that the abnormal steps
// served.
std::set<std::uint32_t> concerned(const Judged& run, const RunVerdict& verdict,
                                  const Thresholds& thresholds) {
  std::set<std::uint32_t> set;
  for (const RequestVerdict& one :
       named_requests(rank_requests(run, verdict, thresholds), thresholds)) {
    set.insert(one.request);
  }
  if (!set.empty()) return set;
  const Chains& chains = run.run->chains;
  for (const std::size_t unit : verdict.agreeing_units) {
    const std::uint32_t step = run.samples[unit]->step;
    const std::uint32_t first = chains.steps.first_row[step];
    for (std::uint32_t row = first; row < first + chains.steps.row_count[step]; ++row) {
      set.insert(chains.rows.request[row]);
    }
  }
  return set;
}

void add_requests(const Judged& run, const RunVerdict& verdict, const Thresholds& thresholds,
                  std::vector<std::size_t>& truth, std::vector<std::size_t>& predicted) {
  const Chains& chains = run.run->chains;
  const std::set<std::uint32_t> hit =
      verdict.abnormal ? concerned(run, verdict, thresholds) : std::set<std::uint32_t>{};
  std::set<std::string_view> hit_ids;
  for (const std::uint32_t request : hit)
    hit_ids.insert(chains.string(chains.requests.id[request]));
  for (const RequestLabel& label : run.run->labels.requests) {
    truth.push_back(label.is_fault ? static_cast<std::size_t>(label.fault_type) : 0);
    predicted.push_back(hit_ids.contains(label.request) ? class_of(verdict) : 0);
  }
}

}  // namespace

JudgedRuns judge_samples(const Network& network, const std::vector<const RunInput*>& runs,
                         const std::vector<const std::vector<Sample>*>& samples) {
  JudgedRuns judged;
  std::vector<const Sample*> all;
  for (const auto* list : samples) {
    for (const Sample& sample : *list) all.push_back(&sample);
  }
  std::vector<Prediction> predictions = network.predict(all);
  judged.predictions.push_back(std::move(predictions));
  std::size_t next = 0;
  for (std::size_t r = 0; r < runs.size(); ++r) {
    Judged one;
    one.run = runs[r];
    for (const Sample& sample : *samples[r]) {
      one.samples.push_back(&sample);
      one.predictions.push_back(&judged.predictions.front()[next++]);
    }
    judged.runs.push_back(std::move(one));
  }
  return judged;
}

Json measure(const std::vector<Judged>& runs, const Thresholds& thresholds,
             const Calibration* calibration) {
  std::vector<std::size_t> truth, predicted, request_truth, request_predicted;
  std::vector<std::size_t> is_fault, said_fault;  // of the runs: 0 or 1
  std::vector<double> confidence;
  std::size_t culprits = 0, first_right = 0;
  for (const Judged& run : runs) {
    const RunVerdict verdict = judge_run(run, thresholds);
    truth.push_back(static_cast<std::size_t>(run.run->labels.run.fault_type));
    predicted.push_back(class_of(verdict));
    is_fault.push_back(run.run->labels.run.is_fault ? 1 : 0);
    said_fault.push_back(verdict.abnormal ? 1 : 0);
    if (calibration != nullptr) {
      const double p = run_probability(verdict, *calibration, calibration->prior);
      confidence.push_back(verdict.abnormal ? p : 1 - p);
    }
    add_requests(run, verdict, thresholds, request_truth, request_predicted);
    std::set<std::string> named;
    for (const RequestLabel& label : run.run->labels.requests) {
      if (label.is_fault && !label.role.empty()) named.insert(label.request);
    }
    if (named.size() != 1) continue;
    ++culprits;
    const auto ranked = rank_requests(run, verdict, thresholds);
    const Chains& chains = run.run->chains;
    if (verdict.abnormal && !ranked.empty() &&
        named.contains(std::string(chains.string(chains.requests.id[ranked[0].request])))) {
      ++first_right;
    }
  }
  Json json;
  json["runs"] = runs.size();
  json["vertical"] = measure_view(runs, View::kVertical, thresholds);
  json["horizontal"] = measure_view(runs, View::kHorizontal, thresholds);
  json["classes"] = Json::array();
  for (std::size_t c = 0; c < kFaultTypeCount; ++c) {
    json["classes"].push_back(fault_type_name(static_cast<FaultType>(c)));
  }
  json["classes"].push_back("unknown");
  json["run"] = to_json(class_scores(truth, predicted, {}, kFaultTypeCount + 1));
  if (calibration != nullptr) {  // the probability is that of a fault, whichever it is
    json["run"]["calibration_error"] =
        rounded(class_scores(is_fault, said_fault, confidence, 2).calibration_error);
  }
  json["request"] =
      to_json(class_scores(request_truth, request_predicted, {}, kFaultTypeCount + 1));
  json["request_first"] = {{"runs", culprits}, {"right", first_right}};
  return json;
}

}  // namespace teller::learn_detail
