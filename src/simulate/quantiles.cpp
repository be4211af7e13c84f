#include "simulate/quantiles.h"

#include <cstddef>

namespace teller::simulate {

namespace {

// How far the value at probability 0 or 1 lies beyond the outermost quantile, in units of the
// distance of the two outermost.
constexpr double kBeyond = 0.3;

}  // namespace

Quantiles::Quantiles(std::vector<std::pair<double, double>> points) : points_(std::move(points)) {
  if (points_.size() < 2) return;
  const auto beyond = [](const auto& outer, const auto& inner) {
    return outer.second + kBeyond * (outer.second - inner.second);
  };
  const double low = beyond(points_[0], points_[1]);
  const double high = beyond(points_[points_.size() - 1], points_[points_.size() - 2]);
  points_.insert(points_.begin(), {0, low});
  points_.emplace_back(1, high);
}

double Quantiles::at(double u) const {
  for (std::size_t i = 1; i < points_.size(); ++i) {
    const auto [x0, y0] = points_[i - 1];
    const auto [x1, y1] = points_[i];
    if (u <= x1) return y0 + (y1 - y0) * (u - x0) / (x1 - x0);
  }
  return points_.empty() ? 0 : points_.back().second;
}

}  // namespace teller::simulate
