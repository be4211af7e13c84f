// Medians: what is typical of values of which some are far off. Private to horizontal/.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace teller::horizontal_detail {

// The q-quantile (0..1) by rank; 0 of nothing.
inline double quantile(std::vector<double> values, double q) {
  if (values.empty()) return 0;
  const auto last = static_cast<double>(values.size() - 1);
  const auto at = static_cast<std::ptrdiff_t>(std::llround(q * last));
  std::nth_element(values.begin(), values.begin() + at, values.end());
  return values[static_cast<std::size_t>(at)];
}

// The median; of an even number of values the mean of the two in the middle. 0 of nothing.
inline double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto half = static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), values.begin() + half, values.end());
  const double upper = values[static_cast<std::size_t>(half)];
  if (values.size() % 2 == 1) return upper;
  return (upper + *std::max_element(values.begin(), values.begin() + half)) / 2;
}

// Standard deviation as the median distance from `centre` shows it.
inline double spread_about(std::vector<double> values, double centre) {
  for (double& value : values) value = std::abs(value - centre);
  return 1.4826 * median(std::move(values));
}

}  // namespace teller::horizontal_detail
