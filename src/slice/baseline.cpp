#include "slice/baseline.h"

#include <algorithm>
#include <cmath>

namespace teller::slice_detail {
namespace {

Level learn_level(const std::vector<double>& values) {
  Level level;
  if (values.empty()) return level;
  level.known = true;
  level.median = median(values);
  // Gaps and queue delays are small and coarse: a tenfold floor of the spread keeps them calm.
  level.spread = std::max(mad_spread(values), 10 * kSpreadFloor);
  return level;
}

// Everything seen of one key.
struct Seen {
  std::vector<Point> duration, self;
  std::vector<double> queue, gap;
  std::size_t steps = 0;
  std::uint32_t last_step = kNoIndex;
};

void collect(const std::vector<Observation>& run, std::vector<Seen>& seen) {
  for (Seen& one : seen) one.last_step = kNoIndex;
  for (const Observation& o : run) {
    Seen& one = seen[o.key];
    one.duration.push_back(o.duration());
    one.self.push_back(o.self());
    if (o.log_queue >= 0) one.queue.push_back(o.log_queue);
    one.gap.push_back(o.log_gap);
    if (one.last_step != o.step) ++one.steps;
    one.last_step = o.step;
  }
}

}  // namespace

double Level::deviation(double value) const {
  return known ? std::asinh((value - median) / spread) : 0;
}

std::vector<Fit> Baseline::duration_fits() const {
  std::vector<Fit> fits;
  fits.reserve(models.size());
  for (const KeyModel& model : models) fits.push_back(model.duration);
  return fits;
}

std::array<std::size_t, 3> count_phase_steps(const std::vector<Observation>& observations,
                                             const KeyTable& keys) {
  std::array<std::size_t, 3> counts{};
  std::uint32_t last = kNoIndex;
  for (const Observation& o : observations) {
    const OpKey& key = keys.key(o.key);
    if (key.owned || o.step == last) continue;  // one step's nodes stand together
    last = o.step;
    ++counts[static_cast<std::size_t>(key.phase)];
  }
  return counts;
}

std::vector<KeyModel> learn_keys(const std::vector<const std::vector<Observation>*>& runs,
                                 const KeyTable& keys, std::uint32_t least_steps) {
  std::vector<Seen> seen(keys.size());
  for (const auto* run : runs) collect(*run, seen);
  std::vector<KeyModel> models(keys.size());
  for (std::size_t key = 0; key < seen.size(); ++key) {
    models[key].instances = seen[key].duration.size();
    models[key].steps = seen[key].steps;
    if (seen[key].steps < least_steps) continue;
    models[key].duration = fit_log_time(seen[key].duration);
    models[key].self = fit_log_time(seen[key].self);
    models[key].queue = learn_level(seen[key].queue);
    models[key].gap = learn_level(seen[key].gap);
  }
  return models;
}

void widen_mates(Baseline& baseline, const std::vector<MateSeries>& series,
                 std::uint32_t least_steps) {
  std::vector<double> medians;
  for (const MateSeries& one : series) {
    if (one.steps.size() < least_steps) continue;
    medians.push_back(one.log_ratio);
    baseline.mates_high = std::max(baseline.mates_high, std::abs(one.log_ratio));
  }
  baseline.mates_spread = std::max(baseline.mates_spread, mad_spread(medians));
}

}  // namespace teller::slice_detail
