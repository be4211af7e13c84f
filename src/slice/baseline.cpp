#include "slice/baseline.h"

#include <algorithm>
#include <cmath>

#include "slice/pace.h"

namespace teller::slice_detail {
namespace {

// Everything seen of one key. `groups` numbers the steps of all runs.
struct Seen {
  std::vector<Point> duration, self;
  std::vector<std::uint32_t> groups;
  std::size_t steps = 0;
  std::uint32_t last_step = kNoIndex;
};

using Paces = std::vector<std::vector<double>>;  // per run, per step

std::vector<Seen> collect(const std::vector<Lesson>& runs, std::size_t keys, const Paces& paces) {
  std::vector<Seen> seen(keys);
  std::uint32_t first_group = 0;
  for (std::size_t run = 0; run < runs.size(); ++run) {
    for (Seen& one : seen) one.last_step = kNoIndex;
    for (const Observation& o : *runs[run].observations) {
      Seen& one = seen[o.key];
      if (one.last_step != o.step) ++one.steps;
      one.last_step = o.step;
      // What runs first in its step finds cold caches (mates.h): that is not what is expected.
      if (o.first) continue;
      const double pace = paces.empty() ? 0 : paces[run][o.step];
      one.duration.push_back(o.duration());
      one.duration.back().log_time -= pace;
      one.self.push_back(o.self());
      one.self.back().log_time -= pace;
      one.groups.push_back(first_group + o.step);
    }
    first_group += static_cast<std::uint32_t>(runs[run].steps);
  }
  return seen;
}

KeyModel learn_key(const Seen& seen, bool owned) {
  KeyModel model;
  const auto fit = [&](const std::vector<Point>& points) {
    return owned ? fit_within_groups(points, seen.groups) : fit_log_time(points);
  };
  model.duration = fit(seen.duration);
  model.self = fit(seen.self);
  return model;
}

std::vector<KeyModel> learn_once(const std::vector<Lesson>& runs, const KeyTable& keys,
                                 std::uint32_t least_steps, const Paces& paces) {
  const std::vector<Seen> seen = collect(runs, keys.size(), paces);
  std::vector<KeyModel> models(keys.size());
  for (std::uint32_t key = 0; key < seen.size(); ++key) {
    if (seen[key].steps >= least_steps) models[key] = learn_key(seen[key], keys.key(key).owned);
  }
  return models;
}

std::vector<Fit> self_fits_of(const std::vector<KeyModel>& models) {
  std::vector<Fit> fits;
  fits.reserve(models.size());
  for (const KeyModel& model : models) fits.push_back(model.self);
  return fits;
}

// The pace of every step, with median 0 over all of them: expected times are those at usual pace.
Paces measure_paces(const std::vector<Lesson>& runs, const KeyTable& keys,
                    const std::vector<KeyModel>& models) {
  const std::vector<Fit> fits = self_fits_of(models);
  Paces paces;
  std::vector<double> all;
  for (const Lesson& run : runs) {
    const auto residuals = step_residuals(*run.observations, fits, run.steps);
    paces.push_back(step_pace(*run.observations, residuals, keys.size()));
    all.insert(all.end(), paces.back().begin(), paces.back().end());
  }
  const double usual = median(std::move(all));
  for (std::vector<double>& run : paces) {
    for (double& pace : run) pace -= usual;
  }
  return paces;
}

}  // namespace

std::vector<Fit> Baseline::duration_fits() const {
  std::vector<Fit> fits;
  fits.reserve(models.size());
  for (const KeyModel& model : models) fits.push_back(model.duration);
  return fits;
}

std::vector<Fit> Baseline::self_fits() const {
  return self_fits_of(models);
}

std::vector<KeyModel> learn_keys(const std::vector<Lesson>& runs, const KeyTable& keys,
                                 std::uint32_t least_steps) {
  const std::vector<KeyModel> first = learn_once(runs, keys, least_steps, {});
  return learn_once(runs, keys, least_steps, measure_paces(runs, keys, first));
}

void widen_mates(Baseline& baseline, const std::vector<MateSeries>& series,
                 std::uint32_t least_steps) {
  baseline.mates.resize(baseline.models.size());
  std::vector<std::vector<double>> medians(baseline.models.size());
  for (const MateSeries& one : series) {
    if (one.steps.size() < least_steps) continue;
    medians[one.key].push_back(one.log_ratio);
    double& high = baseline.mates[one.key].high;
    high = std::max(high, std::abs(one.log_ratio));
  }
  for (std::size_t key = 0; key < medians.size(); ++key) {
    if (medians[key].size() < 3) continue;
    double& spread = baseline.mates[key].spread;
    spread = std::max(spread, mad_spread(medians[key]));
  }
}

}  // namespace teller::slice_detail
