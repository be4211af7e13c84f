#include "slice/operators.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <tuple>

#include "base/saturate.h"
#include "run_folder/locator.h"
#include "slice/pace.h"

namespace teller::slice_detail {
namespace {

const double kClearlySlower = std::log(1.2);  // a step that shows it by itself
constexpr double kConsistent = 0.75;          // share of the steps that must do so
constexpr double kLeastStepShare = 0.05;      // excess over the steps' time, for a family to matter
constexpr double kLeastPresenceShare = 0.01;  // of all self time, for an extra or missing family
constexpr std::size_t kMostMates = 200;       // that a reason names
constexpr double kLeastInstanceZ = 2.5;       // asinh(6): six spreads off

std::string times(double ratio) {
  char text[32];
  std::snprintf(text, sizeof text, "x%.1f", ratio);
  return text;
}

// --- requests against their mates ---------------------------------------------------------------

// The medians of all requests' series of one key.
LeaveOneOut medians_of(const std::vector<const MateSeries*>& same_key, std::uint32_t least_steps) {
  std::vector<double> medians;
  for (const MateSeries* series : same_key) {
    if (series->steps.size() >= least_steps) medians.push_back(series->log_ratio);
  }
  return LeaveOneOut(std::move(medians));
}

std::size_t slower_steps(const MateSeries& series) {
  return static_cast<std::size_t>(
      std::count_if(series.steps.begin(), series.steps.end(),
                    [](const MateStep& step) { return step.log_ratio > kClearlySlower; }));
}

// How often the series reaches its threshold; below 1: it does not stand out.
double mate_score(const Case& c, const MateSeries& series, const LeaveOneOut& medians, double& z) {
  const std::size_t count = series.steps.size();
  if (count < c.options.min_steps) return 0;
  const double spread = medians.spread_without(series.log_ratio);
  const MatesNorm norm = c.baseline.mates[series.key];
  const double noise =
      std::hypot(std::max({spread, norm.spread, kSpreadFloor}), series.standard_error());
  z = series.log_ratio / noise;
  const double limit = std::max(std::log(c.options.min_ratio), 1.5 * norm.high);
  if (z < c.options.min_z || series.log_ratio < limit) return 0;
  if (static_cast<double>(slower_steps(series)) < kConsistent * static_cast<double>(count)) {
    return 0;
  }
  return series.log_ratio / limit;
}

struct Slow {
  const MateSeries* series;
  double score, z;
  std::int64_t excess_ns;
};

Json operator_json(const Case& c, const Slow& slow) {
  const OpKey& key = c.keys.key(slow.series->key);
  return {{"layer", layer_name(key.layer)},
          {"family", key.family},
          {"phase", phase_name(key.phase)},
          {"ratio", rounded(std::exp(slow.series->log_ratio))},
          {"excess_ns", slow.excess_ns}};
}

void add_evidence(const MateSeries& series, Reason& reason) {
  std::vector<MateStep> steps;
  for (const MateStep& step : series.steps) {
    if (step.log_ratio > kClearlySlower) steps.push_back(step);
  }
  for (const MateStep& step : steps) reason.steps.push_back(step.step);
  std::stable_sort(steps.begin(), steps.end(),
                   [](const MateStep& a, const MateStep& b) { return a.excess_ns > b.excess_ns; });
  for (const MateStep& step : steps) reason.nodes.push_back(step.node);
}

// Requests that were compared in the same key, by id; not all where there are very many.
Json mates_of(const Case& c, const std::vector<const MateSeries*>& same_key,
              std::uint32_t request) {
  Json ids = Json::array();
  for (const MateSeries* other : same_key) {
    if (ids.size() == kMostMates) break;
    if (other->request != request) {
      ids.push_back(c.chains.string(c.chains.requests.id[other->request]));
    }
  }
  return ids;
}

// `slow` are the keys of one request, by excess; the largest names the reason.
Reason mate_reason(const Case& c, const std::vector<Slow>& slow,
                   const std::vector<const MateSeries*>& same_key) {
  const Slow& worst = slow.front();
  const MateSeries& series = *worst.series;
  const OpKey& key = c.keys.key(series.key);
  const double ratio = std::exp(series.log_ratio);
  Reason reason;
  reason.kind = "slow_operator";
  reason.score = worst.score;
  reason.text = "its " + key.family + " (" + std::string(layer_name(key.layer)) + ") takes " +
                times(ratio) + " as long as that of the other requests in the same steps: in " +
                std::to_string(slower_steps(series)) + " of " +
                std::to_string(series.steps.size()) + " " + std::string(phase_name(key.phase)) +
                " steps, against " + std::to_string(same_key.size() - 1) + " requests";
  reason.effect = {
      {"ratio", rounded(ratio)},       {"z", rounded(worst.z)},
      {"steps", slower_steps(series)}, {"of_steps", series.steps.size()},
      {"excess_ns", worst.excess_ns},  {"compared_with", mates_of(c, same_key, series.request)}};
  for (const Slow& one : slow) reason.operators.push_back(operator_json(c, one));
  add_evidence(series, reason);
  return reason;
}

// --- families against the baseline --------------------------------------------------------------

// A family's self time in the run against the baseline's expectation.
struct FamilyShift {
  std::uint32_t key = 0;
  double log_ratio = 0;  // median over steps of the step's median residual
  double relative = 0;   // the same after taking off each step's own pace
  double spread = 0;     // of the relative residuals over steps
  double self_ns = 0;
  std::size_t instances = 0, steps = 0;
};

struct Shifts {
  std::vector<FamilyShift> families;
  double run = 0;  // median over steps of their pace
};

Shifts family_shifts(const Case& c) {
  const auto steps = step_residuals(c.observations, c.baseline.self_fits(), c.chains.step_count());
  const std::vector<double> paces = step_pace(c.observations, steps, c.keys.size());
  std::vector<std::vector<double>> ratios(c.keys.size()), relative(c.keys.size());
  std::vector<double> known_paces;
  for (std::size_t step = 0; step < steps.size(); ++step) {
    if (!steps[step].empty()) known_paces.push_back(paces[step]);
    for (const KeyResidual& residual : steps[step]) {
      ratios[residual.key].push_back(residual.value);
      relative[residual.key].push_back(residual.value - paces[step]);
    }
  }
  std::vector<FamilyShift> shifts(c.keys.size());
  for (const Observation& o : c.observations) {
    shifts[o.key].self_ns += std::exp(static_cast<double>(o.log_self));
    ++shifts[o.key].instances;
  }
  Shifts all;
  all.run = median(std::move(known_paces));
  for (std::uint32_t key = 0; key < shifts.size(); ++key) {
    FamilyShift& shift = shifts[key];
    shift.key = key;
    shift.steps = ratios[key].size();
    if (shift.steps < c.options.min_steps) continue;
    shift.log_ratio = median(std::move(ratios[key]));
    shift.spread = mad_spread(relative[key]);
    shift.relative = median(std::move(relative[key]));
    all.families.push_back(shift);
  }
  return all;
}

double time_of_steps(const Chains& chains) {
  double sum = 0;
  for (std::uint32_t step = 0; step < chains.step_count(); ++step) {
    sum +=
        static_cast<double>(saturating_sub(chains.steps.end_ns[step], chains.steps.begin_ns[step]));
  }
  return std::max(sum, 1.0);
}

void judge_shift(const Case& c, const FamilyShift& shift, double noise, double steps_ns,
                 Findings& findings) {
  const double relative = shift.relative;
  OperatorFinding finding;
  finding.kind = "slower";
  finding.key = shift.key;
  finding.ratio = std::exp(shift.log_ratio);
  finding.relative_ratio = std::exp(relative);
  finding.instances = shift.instances;
  finding.steps = shift.steps;
  const double error = 1.2533 * shift.spread / std::sqrt(static_cast<double>(shift.steps));
  finding.z = relative / std::hypot(std::max(noise, kSpreadFloor), error);
  finding.step_share = shift.self_ns * (1 - std::exp(-relative)) / steps_ns;
  finding.score = relative / std::log(c.options.min_family_ratio);
  finding.suspicious =
      finding.score >= 1 && finding.z >= c.options.min_z && finding.step_share >= kLeastStepShare;
  if (finding.score > 0.5 && finding.z > 2) findings.operators.push_back(finding);
}

void judge_run_shift(const Case& c, double run, Findings& findings) {
  const double ratio = std::exp(run);
  const double score = run / std::log(c.options.min_run_ratio);
  if (std::abs(run) < std::log(1.2)) return;
  if (score < 1) {
    findings.notes.push_back("all operators together run " + times(ratio) +
                             " the baseline's time: taken as the machine's pace, not as a finding");
    return;
  }
  Reason reason;
  reason.kind = "run_slower";
  reason.score = score;
  reason.text = "all operators together take " + times(ratio) +
                " the baseline's time: machine, clock or configuration rather than one operator";
  reason.effect = {{"ratio", rounded(ratio)}};
  findings.run.push_back(std::move(reason));
}

// Families that only the run, or only the baseline, has under one parent: an operator that runs
// another kernel has both.
struct Swap {
  double extra_ns = 0, missing_ns = 0;  // per step of the run, of the baseline
  std::vector<OperatorFinding> findings;
};
using Swaps = std::map<std::tuple<Phase, Layer, std::string>, Swap>;

// Whether `id` is an operator of most steps of `has`, and of none of the other.
OperatorFinding only_in(const Presence& has, std::uint32_t id, std::size_t phase,
                        const char* kind) {
  OperatorFinding finding;
  const KeyPresence& one = has.keys[id];
  finding.kind = kind;
  finding.key = id;
  finding.instances = one.instances;
  finding.steps = one.steps;
  finding.step_share = one.self_ns / std::max(has.self_ns[phase], 1.0);
  finding.score = 1 + static_cast<double>(one.steps) / static_cast<double>(has.steps[phase]);
  finding.suspicious = finding.step_share >= kLeastPresenceShare;
  return finding;
}

Swaps find_swaps(const Case& c) {
  const Presence &run = c.baseline.run, &healthy = c.baseline.healthy;
  Swaps swaps;
  for (std::uint32_t id = 0; id < c.keys.size(); ++id) {
    const OpKey& key = c.keys.key(id);
    const auto phase = static_cast<std::size_t>(key.phase);
    const std::size_t in_run = run.steps[phase], in_healthy = healthy.steps[phase];
    if (key.owned || std::min(in_run, in_healthy) < c.options.min_baseline_steps) continue;
    const KeyPresence &here = run.keys[id], &there = healthy.keys[id];
    if (there.steps == 0 && 2 * here.steps >= in_run) {
      Swap& swap = swaps[{key.phase, key.layer, here.parent}];
      swap.extra_ns += here.self_ns / static_cast<double>(in_run);
      swap.findings.push_back(only_in(run, id, phase, "extra"));
    } else if (here.steps == 0 && 10 * there.steps >= 9 * in_healthy) {
      Swap& swap = swaps[{key.phase, key.layer, there.parent}];
      swap.missing_ns += there.self_ns / static_cast<double>(in_healthy);
      swap.findings.push_back(only_in(healthy, id, phase, "missing"));
    }
  }
  return swaps;
}

std::string list_families(const Case& c, const Swap& swap, const char* kind) {
  std::string text;
  for (const OperatorFinding& one : swap.findings) {
    if (one.kind == kind) text += (text.empty() ? "" : ", ") + c.keys.key(one.key).family;
  }
  return text;
}

// Shared families that only the run, or only the baseline, has in most steps of a phase.
void judge_presence(const Case& c, Findings& findings) {
  for (auto& [where, swap] : find_swaps(c)) {
    const bool swapped = swap.extra_ns > 0 && swap.missing_ns > 0;
    const bool slower = swap.extra_ns >= c.options.min_family_ratio * swap.missing_ns;
    if (swapped && !slower) {
      findings.notes.push_back("kernel choice differs below " + std::get<std::string>(where) +
                               " in " + std::string(phase_name(std::get<Phase>(where))) +
                               " steps: " + list_families(c, swap, "extra") + " instead of " +
                               list_families(c, swap, "missing"));
      continue;
    }
    for (OperatorFinding& one : swap.findings) {
      if (swapped && one.kind == "extra") one.ratio = swap.extra_ns / swap.missing_ns;
      findings.operators.push_back(one);
    }
  }
}

}  // namespace

void judge_mates(const Case& c, Findings& findings) {
  std::vector<MateSeries> all = compare_mates(c.observations, c.keys, c.baseline.duration_fits());
  remove_first_effect(all, c.baseline.first_effect);
  std::map<std::uint32_t, std::vector<const MateSeries*>> by_key;
  for (const MateSeries& series : all) by_key[series.key].push_back(&series);
  std::map<std::uint32_t, LeaveOneOut> medians;
  for (const auto& [key, same_key] : by_key) {
    medians.emplace(key, medians_of(same_key, c.options.min_steps));
  }
  std::map<std::uint32_t, std::vector<Slow>> by_request;
  for (const MateSeries& series : all) {
    double z = 0;
    const double score = mate_score(c, series, medians.at(series.key), z);
    if (score < 1) continue;
    std::int64_t excess = 0;
    for (const MateStep& step : series.steps) excess = saturating_add(excess, step.excess_ns);
    by_request[series.request].push_back({&series, score, z, excess});
  }
  for (auto& [request, slow] : by_request) {
    std::stable_sort(slow.begin(), slow.end(),
                     [](const Slow& a, const Slow& b) { return a.excess_ns > b.excess_ns; });
    findings.blame(request, mate_reason(c, slow, by_key[slow.front().series->key]));
  }
  const bool owns_any = std::any_of(c.observations.begin(), c.observations.end(),
                                    [](const Observation& o) { return o.request != kNoIndex; });
  if (!owns_any) {
    findings.notes.push_back(
        "no operator belongs to a single request: requests were not compared with batch-mates");
  }
}

void judge_families(const Case& c, Findings& findings) {
  if (!c.baseline.external) {
    findings.notes.push_back(
        "no baseline: families that are slow, extra or missing throughout the run cannot be told "
        "(give healthy runs with --baseline)");
    return;
  }
  const Shifts shifts = family_shifts(c);
  if (shifts.families.empty()) {
    findings.notes.push_back("no operator kind was seen in at least " +
                             std::to_string(c.options.min_baseline_steps) +
                             " steps of both the run and the baseline: families were not compared");
  }
  std::vector<double> relative;
  for (const FamilyShift& shift : shifts.families) relative.push_back(shift.relative);
  const double noise = mad_spread(relative);
  const double steps_ns = time_of_steps(c.chains);
  for (const FamilyShift& shift : shifts.families) {
    judge_shift(c, shift, noise, steps_ns, findings);
  }
  judge_presence(c, findings);
  judge_run_shift(c, shifts.run, findings);
}

void list_instances(const Case& c, Findings& findings) {
  const std::vector<Fit> fits = c.baseline.self_fits();
  const std::vector<double> paces = step_pace(
      c.observations, step_residuals(c.observations, fits, c.chains.step_count()), c.keys.size());
  for (const Observation& o : c.observations) {
    const Fit& fit = fits[o.key];
    if (!fit.known()) continue;
    const double residual = fit.residual(o.self()) - std::max(paces[o.step], 0.0);
    const double z = fit.deviation(residual);
    if (z < kLeastInstanceZ) continue;
    const double excess = std::exp(static_cast<double>(o.log_self)) * (1 - std::exp(-residual));
    findings.instances.push_back({o.node, z, std::exp(residual), saturating_int(excess)});
  }
  const auto order = [](const InstanceFinding& a, const InstanceFinding& b) {
    return std::tie(b.excess_ns, a.node) < std::tie(a.excess_ns, b.node);
  };
  const auto kept = std::min<std::size_t>(findings.instances.size(), c.options.max_instances);
  std::partial_sort(findings.instances.begin(),
                    findings.instances.begin() + static_cast<std::ptrdiff_t>(kept),
                    findings.instances.end(), order);
  findings.instances.resize(kept);
}

}  // namespace teller::slice_detail
