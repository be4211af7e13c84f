// How one clock runs off from another. Private to horizontal/.
#pragma once

#include <vector>

namespace teller::horizontal_detail {

// One event on both clocks.
struct ClockPoint {
  double time = 0;   // on the one, ns since the origin
  double apart = 0;  // that less the time on the other
};

// ns per ns by which the one runs ahead: the median over pairs of points that lie half of all apart
// (linear time). `known` is false, and the slope 0, where too few points or too little time tell;
// 0 too where it is not plainly more than its doubt. `points` are by time, at least one.
double clock_slope(const std::vector<ClockPoint>& points, bool& known);

// Standard error of the median of `count` values with this median distance from it.
double doubt_of_median(double residual, std::size_t count);

}  // namespace teller::horizontal_detail
