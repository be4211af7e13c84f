#include "slice/mates.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "base/saturate.h"

namespace teller::slice_detail {
namespace {

constexpr std::size_t kFewestFirst = 3;  // steps, and requests
constexpr std::size_t kFewestMates = 2;  // with one mate, nobody can say which of the two is off

// One request's instances of one key in one step.
struct Cell {
  std::uint32_t key = 0;
  std::uint32_t step = 0;
  std::uint32_t request = 0;
  std::uint32_t slowest = 0;  // node
  double residual = 0;        // median over the instances: layers of one model
  double total_ns = 0;
  bool first = false;
};

struct Sample {
  std::uint32_t key, step, request, node;
  double residual, ns;
  bool first;
  auto order() const { return std::tie(key, step, request, node); }
};

std::vector<Sample> owned_samples(const std::vector<Observation>& observations,
                                  const KeyTable& keys, const std::vector<Fit>& fits) {
  std::vector<Sample> samples;
  for (const Observation& o : observations) {
    if (o.request == kNoIndex || keys.key(o.key).phase == Phase::kUnknown) continue;
    const Fit& fit = fits[o.key];
    if (!fit.known()) continue;
    samples.push_back({o.key, o.step, o.request, o.node, fit.residual(o.duration()),
                       std::exp(static_cast<double>(o.log_duration)), o.first});
  }
  std::sort(samples.begin(), samples.end(),
            [](const Sample& a, const Sample& b) { return a.order() < b.order(); });
  return samples;
}

std::vector<Cell> make_cells(const std::vector<Sample>& samples) {
  std::vector<Cell> cells;
  for (std::size_t i = 0; i < samples.size();) {
    const Sample& first = samples[i];
    Cell cell{first.key, first.step, first.request, first.node, 0, 0, first.first};
    std::vector<double> residuals;
    double worst = first.residual;
    for (; i < samples.size() && samples[i].key == cell.key && samples[i].step == cell.step &&
           samples[i].request == cell.request;
         ++i) {
      residuals.push_back(samples[i].residual);
      cell.total_ns += samples[i].ns;
      if (samples[i].residual > worst) worst = samples[i].residual, cell.slowest = samples[i].node;
    }
    cell.residual = median(std::move(residuals));
    cells.push_back(cell);
  }
  return cells;
}

struct Compared {
  std::uint32_t key, request;
  MateStep step;
};

// The cells [begin, end) are those of one key in one step.
void compare_step(const std::vector<Cell>& cells, std::size_t begin, std::size_t end,
                  std::vector<Compared>& out) {
  if (end - begin < kFewestMates + 1) return;
  std::vector<double> residuals;
  residuals.reserve(end - begin);
  for (std::size_t i = begin; i < end; ++i) residuals.push_back(cells[i].residual);
  const LeaveOneOut mates(std::move(residuals));
  for (std::size_t i = begin; i < end; ++i) {
    const double log_ratio = cells[i].residual - mates.median_without(cells[i].residual);
    const double excess = cells[i].total_ns * (1 - std::exp(-log_ratio));
    out.push_back(
        {cells[i].key,
         cells[i].request,
         {cells[i].step, log_ratio, saturating_int(excess), cells[i].slowest, cells[i].first}});
  }
}

void summarise(MateSeries& series) {
  std::vector<double> values;
  for (const MateStep& step : series.steps) values.push_back(step.log_ratio);
  series.spread = mad_spread(values);
  series.log_ratio = median(std::move(values));
}

}  // namespace

double MateSeries::standard_error() const {
  return steps.empty() ? 0 : 1.2533 * spread / std::sqrt(static_cast<double>(steps.size()));
}

std::vector<MateSeries> compare_mates(const std::vector<Observation>& observations,
                                      const KeyTable& keys, const std::vector<Fit>& fits) {
  const std::vector<Cell> cells = make_cells(owned_samples(observations, keys, fits));
  std::vector<Compared> compared;
  for (std::size_t begin = 0; begin < cells.size();) {
    std::size_t end = begin + 1;
    while (end < cells.size() && cells[end].key == cells[begin].key &&
           cells[end].step == cells[begin].step) {
      ++end;
    }
    compare_step(cells, begin, end, compared);
    begin = end;
  }
  std::stable_sort(compared.begin(), compared.end(), [](const Compared& a, const Compared& b) {
    return std::tie(a.key, a.request) < std::tie(b.key, b.request);
  });
  std::vector<MateSeries> all;
  for (const Compared& c : compared) {
    if (all.empty() || all.back().key != c.key || all.back().request != c.request) {
      all.push_back({c.key, c.request, {}, 0, 0});
    }
    all.back().steps.push_back(c.step);
  }
  for (MateSeries& series : all) summarise(series);
  return all;
}

void collect_first(const std::vector<MateSeries>& run, FirstMedians& medians) {
  for (const MateSeries& series : run) {
    std::vector<double> ratios;
    for (const MateStep& step : series.steps) {
      if (step.first) ratios.push_back(step.log_ratio);
    }
    if (ratios.size() >= kFewestFirst) medians[series.key].push_back(median(std::move(ratios)));
  }
}

FirstEffect first_effect_of(const FirstMedians& medians) {
  FirstEffect effect(medians.size());
  for (std::size_t key = 0; key < medians.size(); ++key) {
    if (medians[key].size() >= kFewestFirst) effect[key] = median(medians[key]);
  }
  return effect;
}

void remove_first_effect(std::vector<MateSeries>& all, const FirstEffect& effect) {
  for (MateSeries& series : all) {
    const std::optional<double> known = effect[series.key];
    if (!known) std::erase_if(series.steps, [](const MateStep& step) { return step.first; });
    for (MateStep& step : series.steps) {
      if (step.first) step.log_ratio -= *known;
    }
    summarise(series);
  }
}

}  // namespace teller::slice_detail
