#include "learn/fit_thresholds.h"

#include <algorithm>
#include <cmath>

namespace teller::learn_detail {

namespace {

constexpr double kMarginScale = 8;  // softens ratios of small counts
constexpr double kMarginWeight = 0.05;
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

// An abnormal step and what its label names.
struct LabelledStep {
  const Judged* run;
  std::size_t place;
  OperatorSet truth;
};

std::vector<LabelledStep> abnormal_steps(const std::vector<Judged>& runs) {
  std::vector<LabelledStep> steps;
  for (const Judged& run : runs) {
    const std::vector<const StepLabel*> labels = labels_of_units(*run.run);
    for (std::size_t i = 0; i < run.samples.size(); ++i) {
      const Sample& sample = *run.samples[i];
      if (sample.state != StepState::kCause || labels[sample.unit] == nullptr) continue;
      steps.push_back({&run, i, labelled_operators(*labels[sample.unit])});
    }
  }
  return steps;
}

double fit_pointer_threshold(const std::vector<Judged>& runs) {
  const std::vector<LabelledStep> steps = abnormal_steps(runs);
  double best = 0, best_f1 = -1;
  for (double threshold = -4; threshold <= 4 && !steps.empty(); threshold += 0.25) {
    double sum = 0;
    for (const LabelledStep& step : steps) {
      const OperatorSet named = named_operators(*step.run->run, *step.run->samples[step.place],
                                                *step.run->predictions[step.place], threshold);
      sum += operator_scores({ranks_as_in(step.truth, named)}, {step.truth}).all.f1;
    }
    const double f1 = sum / static_cast<double>(steps.size());
    if (f1 > best_f1) {
      best_f1 = f1;
      best = threshold;
    }
  }
  return best;
}

// A validation run as the fit of k sees it.
struct LabelledLogits {
  TypeLogits logits;
  const RunLabel* truth;
};

bool is_right(const RunLabel& truth, const RunVerdict& verdict) {
  if (!truth.is_fault) return !verdict.abnormal;
  return verdict.abnormal && !verdict.unknown && verdict.type == truth.fault_type;
}

// How well the verdicts fit the labels: runs judged right, and by how much (which decides between
// thresholds that judge as many right, so that they lie between the runs and not at one).
double fitness(const std::vector<LabelledLogits>& runs, const Thresholds& thresholds) {
  double sum = 0;
  for (const LabelledLogits& run : runs) {
    const RunVerdict verdict = decide(run.logits, thresholds);
    const double most = *std::max_element(verdict.support.begin(), verdict.support.end());
    const double support =
        run.truth->is_fault ? verdict.support[static_cast<std::size_t>(run.truth->fault_type) - 1]
                            : most;
    const double margin = std::log((support * kMarginScale + 1) / (kMarginScale + 1));
    sum += (is_right(*run.truth, verdict) ? 1 : 0) +
           kMarginWeight * std::clamp(run.truth->is_fault ? margin : -margin, -1.0, 1.0);
  }
  return sum;
}

// Fewest steps that make a run abnormal, by FaultType - 1. Two slow steps are as often the
// machine's doing as the program's; a collective that one rank never joins is a single step, and
// the last.
constexpr std::array<std::int64_t, kCategories> kFewestSteps = {3, 3, 3, 1, 3};

// Type by type, twice over: the k and the logit that fit best while the others stay.
void fit_agreement(const std::vector<Judged>& judged, Thresholds& thresholds) {
  constexpr std::int64_t kMore[] = {0, 1, 2, 3, 5, 7, 11, 15, 21};
  constexpr double kShares[] = {0, 0.01, 0.02, 0.03, 0.05, 0.08, 0.12};
  constexpr double kAbove[] = {0, 0.5, 1, 2, 3, 4, 5};  // the step threshold
  std::vector<LabelledLogits> runs;
  for (const Judged& run : judged) runs.push_back({logits_by_type(run), &run.run->labels.run});
  for (int round = 0; round < 2; ++round) {
    for (std::size_t c = 0; c < kFewestSteps.size(); ++c) {
      Agreement& agreement = thresholds.agreement[c];
      agreement.steps = std::max(agreement.steps, kFewestSteps[c]);
      Agreement best = agreement;
      double best_fitness = fitness(runs, thresholds);
      for (const std::int64_t more : kMore) {
        for (const double share : kShares) {
          for (const double above : kAbove) {
            agreement = {kFewestSteps[c] + more, share, thresholds.step + above};
            const double now = fitness(runs, thresholds);
            if (now <= best_fitness) continue;
            best_fitness = now;
            best = agreement;
          }
        }
      }
      agreement = best;
    }
  }
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

OperatorSet ranks_as_in(const OperatorSet& truth, const OperatorSet& predicted) {
  OperatorSet set;
  for (const auto& [layer, family, rank] : predicted) {
    const OperatorKey anywhere{layer, family, -1};
    set.insert(truth.contains(anywhere) ? anywhere : OperatorKey{layer, family, rank});
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
  return is_right(judged.run->labels.run, verdict);
}

Thresholds fit_thresholds(const std::vector<Judged>& runs) {
  Thresholds thresholds;
  thresholds.step = fit_step_threshold(runs);
  thresholds.pointer = fit_pointer_threshold(runs);
  fit_agreement(runs, thresholds);
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
