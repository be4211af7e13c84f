#include "horizontal/clock_line.h"

#include <cmath>
#include <cstddef>

#include "horizontal/middle.h"

namespace teller::horizontal_detail {

namespace {

// A slope needs this many points, over this much time: less shows the scatter, not the clock.
constexpr std::size_t kLeastForDrift = 16;
constexpr double kLeastSpanNs = 1e9;
// Quartz drifts by parts per million; more than this is no drift but a misfit.
constexpr double kMostDrift = 1e-3;

}  // namespace

double clock_slope(const std::vector<ClockPoint>& points, bool& known) {
  known = false;
  const std::size_t half = points.size() / 2;
  const double span = points.back().time - points.front().time;
  if (points.size() < kLeastForDrift || span < kLeastSpanNs) return 0;
  std::vector<double> slopes;
  for (std::size_t i = 0; i + half < points.size(); ++i) {
    const double time = points[i + half].time - points[i].time;
    if (time > span / 8) slopes.push_back((points[i + half].apart - points[i].apart) / time);
  }
  if (slopes.size() < kLeastForDrift / 2) return 0;
  const double found = median(slopes);
  const double doubt =
      1.25 * spread_about(slopes, found) / std::sqrt(static_cast<double>(slopes.size()));
  // Slopes of pairs that share points vary together: three standard errors are asked for.
  known = true;
  return std::abs(found) > 3 * doubt && std::abs(found) <= kMostDrift ? found : 0;
}

double doubt_of_median(double residual, std::size_t count) {
  // Of n normal values it is 1.25 σ / √n, and σ is 1.48 median distances.
  return 1.25 * 1.4826 * residual / std::sqrt(static_cast<double>(count));
}

}  // namespace teller::horizontal_detail
