#include "slice/pace.h"

#include <algorithm>
#include <cmath>

namespace teller::slice_detail {
namespace {

constexpr double kMattersFrom = 0.005;  // share of all self time
constexpr std::size_t kFewestKeys = 4;

std::vector<bool> keys_that_matter(const std::vector<Observation>& observations, std::size_t keys) {
  std::vector<double> time(keys, 0);
  double total = 0;
  for (const Observation& o : observations) {
    const double ns = std::exp(static_cast<double>(o.log_self));
    time[o.key] += ns;
    total += ns;
  }
  std::vector<bool> matters(keys);
  for (std::size_t key = 0; key < keys; ++key) matters[key] = time[key] >= kMattersFrom * total;
  return matters;
}

}  // namespace

std::vector<std::vector<KeyResidual>> step_residuals(const std::vector<Observation>& observations,
                                                     const std::vector<Fit>& self_fits,
                                                     std::size_t steps) {
  std::vector<std::vector<KeyResidual>> raw(steps);
  for (const Observation& o : observations) {
    const Fit& fit = self_fits[o.key];
    if (fit.known()) raw[o.step].push_back({o.key, fit.residual(o.self())});
  }
  std::vector<std::vector<KeyResidual>> result(steps);
  for (std::size_t step = 0; step < steps; ++step) {
    auto& list = raw[step];
    std::stable_sort(list.begin(), list.end(),
                     [](const KeyResidual& a, const KeyResidual& b) { return a.key < b.key; });
    for (std::size_t i = 0; i < list.size();) {
      const std::uint32_t key = list[i].key;
      std::vector<double> values;
      for (; i < list.size() && list[i].key == key; ++i) values.push_back(list[i].value);
      result[step].push_back({key, median(std::move(values))});
    }
  }
  return result;
}

std::vector<double> step_pace(const std::vector<Observation>& observations,
                              const std::vector<std::vector<KeyResidual>>& residuals,
                              std::size_t keys) {
  const std::vector<bool> matters = keys_that_matter(observations, keys);
  std::vector<double> pace;
  pace.reserve(residuals.size());
  for (const std::vector<KeyResidual>& step : residuals) {
    std::vector<double> values;
    for (const KeyResidual& residual : step) {
      if (matters[residual.key]) values.push_back(residual.value);
    }
    pace.push_back(values.size() < kFewestKeys ? 0 : median(std::move(values)));
  }
  return pace;
}

}  // namespace teller::slice_detail
