#include "learn/fit_thresholds.h"

#include <algorithm>
#include <cmath>

namespace teller::learn_detail {

namespace {

constexpr std::int64_t kMostSteps = 24;                   // k is sought from 1 to this
constexpr double kLowestScore = -12, kHighestScore = 12;  // of runs, for the fit
constexpr double kRidge = 1e-2;

double bounded_score(const RunVerdict& verdict) {
  return std::clamp(verdict.score, kLowestScore, kHighestScore);
}

double fit_step_threshold(const std::vector<Judged>& runs) {
  std::vector<bool> truth;
  std::vector<double> scores;
  for (const Judged& run : runs) {
    for (std::size_t i = 0; i < run.samples.size(); ++i) {
      const StepState state = run.samples[i]->state;
      if (state != StepState::kCause && state != StepState::kNormal) continue;
      truth.push_back(state == StepState::kCause);
      scores.push_back(run.predictions[i]->abnormal);
    }
  }
  return best_f1_threshold(truth, scores);
}

double fit_pointer_threshold(const std::vector<Judged>& runs) {
  double best = 0, best_f1 = -1;
  for (double threshold = -4; threshold <= 4; threshold += 0.25) {
    double sum = 0, units = 0;
    for (const Judged& run : runs) {
      const std::vector<const StepLabel*> labels = labels_of_units(*run.run);
      for (std::size_t i = 0; i < run.samples.size(); ++i) {
        const Sample& sample = *run.samples[i];
        if (sample.state != StepState::kCause || labels[sample.unit] == nullptr) continue;
        const OperatorScores one =
            operator_scores({named_operators(*run.run, sample, *run.predictions[i], threshold)},
                            {labelled_operators(*labels[sample.unit])});
        sum += one.all.f1;
        ++units;
      }
    }
    if (units > 0 && sum / units > best_f1) {
      best_f1 = sum / units;
      best = threshold;
    }
  }
  return best;
}

std::size_t right_verdicts(const std::vector<Judged>& runs, const Thresholds& thresholds) {
  return static_cast<std::size_t>(std::count_if(runs.begin(), runs.end(), [&](const Judged& run) {
    return judged_right(run, judge_run(run, thresholds));
  }));
}

std::int64_t fit_least_steps(const std::vector<Judged>& runs, Thresholds thresholds) {
  std::vector<std::size_t> right;
  for (std::int64_t k = 1; k <= kMostSteps; ++k) {
    thresholds.least_steps = k;
    right.push_back(right_verdicts(runs, thresholds));
  }
  const std::size_t most = *std::max_element(right.begin(), right.end());
  const auto first = std::find(right.begin(), right.end(), most);
  const auto last = std::find_if(first, right.end(), [&](std::size_t n) { return n != most; });
  return (first - right.begin()) + (last - first - 1) / 2 + 1;
}

}  // namespace

OperatorSet named_operators(const RunInput& run, const Sample& sample, const Prediction& prediction,
                            double pointer_threshold) {
  OperatorSet set;
  const bool with_rank = sample.view == View::kHorizontal;
  for (std::size_t i = 0; i < sample.tokens.size(); ++i) {
    if (prediction.pointers[i] < pointer_threshold) continue;
    const std::uint32_t node = node_of_token(run, sample.tokens[i]);
    set.insert({run.chains.nodes.layer[node],
                std::string(run.chains.string(run.chains.nodes.family[node])),
                with_rank ? run.tokens.tokens.rank[sample.tokens[i]] : -1});
  }
  return set;
}

OperatorSet labelled_operators(const StepLabel& label) {
  OperatorSet set;
  for (const OperatorLabel& op : label.operators) {
    set.insert({static_cast<std::uint8_t>(op.layer), op.family,
                label.view == View::kHorizontal ? op.rank : -1});
  }
  return set;
}

bool judged_right(const Judged& judged, const RunVerdict& verdict) {
  const RunLabel& truth = judged.run->labels.run;
  if (!truth.is_fault) return !verdict.abnormal;
  return verdict.abnormal && !verdict.unknown && verdict.type == truth.fault_type;
}

Thresholds fit_thresholds(const std::vector<Judged>& runs) {
  Thresholds thresholds;
  thresholds.step = fit_step_threshold(runs);
  thresholds.pointer = fit_pointer_threshold(runs);
  thresholds.least_steps = fit_least_steps(runs, thresholds);
  return thresholds;
}

Calibration fit_calibration(const std::vector<Judged>& runs, const Thresholds& thresholds) {
  std::vector<double> scores;
  std::vector<bool> truth;
  for (const Judged& run : runs) {
    scores.push_back(bounded_score(judge_run(run, thresholds)));
    truth.push_back(run.run->labels.run.is_fault);
  }
  const auto positives = static_cast<double>(std::count(truth.begin(), truth.end(), true));
  const double negatives = static_cast<double>(truth.size()) - positives;
  Calibration c;
  if (positives == 0 || negatives == 0) return c;
  const double high = (positives + 1) / (positives + 2), low = 1 / (negatives + 2);
  for (int round = 0; round < 100; ++round) {
    double ga = kRidge * (c.slope - 1), gb = 0, haa = kRidge, hab = 0, hbb = 1e-9;
    for (std::size_t i = 0; i < scores.size(); ++i) {
      const double p = sigmoid(c.slope * scores[i] + c.offset);
      const double error = p - (truth[i] ? high : low), weight = std::max(p * (1 - p), 1e-6);
      ga += error * scores[i];
      gb += error;
      haa += weight * scores[i] * scores[i];
      hab += weight * scores[i];
      hbb += weight;
    }
    const double determinant = haa * hbb - hab * hab;
    if (determinant <= 0) break;
    c.slope -= std::clamp((hbb * ga - hab * gb) / determinant, -1.0, 1.0);
    c.offset -= std::clamp((haa * gb - hab * ga) / determinant, -1.0, 1.0);
  }
  c.slope = std::clamp(c.slope, 0.05, 20.0);
  c.prior = positives / static_cast<double>(truth.size());
  return c;
}

double run_probability(const RunVerdict& verdict, const Calibration& c, double prior) {
  const double logit = c.slope * bounded_score(verdict) + c.offset;
  const double shift = std::log(prior / (1 - prior)) - std::log(c.prior / (1 - c.prior));
  return sigmoid(logit + shift);
}

}  // namespace teller::learn_detail
