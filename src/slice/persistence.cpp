#include "slice/persistence.h"

#include <algorithm>

#include "slice/robust.h"

namespace teller::slice_detail {

void Persistence::add(const SeriesName& name, std::uint32_t step, double z) {
  series_[name].push_back({step, z});
}

void Persistence::finish() {
  for (auto& [name, series] : series_) {
    std::vector<double> values;
    for (const Entry& entry : series) values.push_back(entry.z);
    for (std::size_t i = 0; i < series.size(); ++i) {
      const std::size_t begin = i < kAroundSteps ? 0 : i - kAroundSteps;
      const std::size_t end = std::min(i + kAroundSteps + 1, series.size());
      series[i].z = median({values.begin() + static_cast<std::ptrdiff_t>(begin),
                            values.begin() + static_cast<std::ptrdiff_t>(end)});
    }
  }
}

double Persistence::at(const SeriesName& name, std::uint32_t step) const {
  const auto found = series_.find(name);
  if (found == series_.end() || found->second.size() < kFewestAround) return 0;
  const auto& series = found->second;
  const auto entry =
      std::lower_bound(series.begin(), series.end(), step,
                       [](const Entry& one, std::uint32_t wanted) { return one.step < wanted; });
  return entry != series.end() && entry->step == step ? entry->z : 0;
}

}  // namespace teller::slice_detail
