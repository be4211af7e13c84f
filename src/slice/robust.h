// Robust statistics: medians, spreads, and the fit of an operator's time on tokens and context.
// Everything is deterministic.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace teller::slice_detail {

// Median of the values; 0 if there are none. Reorders a copy.
double median(std::vector<double> values);
// The value below which `fraction` of the values lie; 0 if there are none.
double quantile(std::vector<double> values, double fraction);
// Standard deviation of a normal distribution with the values' MAD: 1.4826 * median |x - median|
// (Rousseeuw and Croux, 1993).
double mad_spread(const std::vector<double>& values);

// Medians and spreads of all values but one, each in logarithmic time.
class LeaveOneOut {
 public:
  explicit LeaveOneOut(std::vector<double> values);
  // `value` is one of the values; 0 if there is no other.
  double median_without(double value) const;
  double spread_without(double value) const;  // mad_spread

 private:
  std::size_t place_of(double value) const;
  double at(std::size_t i, std::size_t left_out) const { return values_[i + (i >= left_out)]; }
  double median_of_others(std::size_t left_out) const;
  // The distance of the i-th nearest of the others from `centre`.
  double distance(std::size_t i, double centre, std::size_t left_out) const;

  std::vector<double> values_;  // sorted
};

// One measured operator: natural logarithms, covariates as log(1 + x), -1 where unknown.
struct Point {
  double log_tokens = -1;
  double log_context = -1;
  double log_time = 0;
};

// log t = a + b log(1 + tokens) + c log(1 + context), and how far healthy points lie from it.
struct Fit {
  double a = 0;
  double b = 0;
  double c = 0;
  double tokens_low = 0, tokens_high = 0;    // range of the fitted points: predict() stays inside,
  double context_low = 0, context_high = 0;  // for nothing is known outside
  double spread = 0;                         // natural-log units, never below kSpreadFloor
  std::size_t points = 0;                    // 0: not fitted

  bool known() const { return points > 0; }
  double predict(double log_tokens, double log_context) const;
  double residual(const Point& p) const {
    return p.log_time - predict(p.log_tokens, p.log_context);
  }
  // z = asinh(residual / spread): linear near 0, logarithmic far out.
  double deviation(double residual_value) const;
};

inline constexpr double kSpreadFloor = 0.05;

// Fits by iteratively reweighted least squares, first with Huber's weights (Huber, 1964; k
// = 1.345), then with Tukey's bisquare (Beaton and Tukey, 1974; c = 4.685), so that a minority of
// slow points does not move the line. A covariate that hardly varies gets no slope.
Fit fit_log_time(std::span<const Point> points);

// The same, but slopes come from comparisons inside groups alone: what all points of a group share
// (a busy machine during one step) cannot bend them. `groups` has one number per point, equal ones
// stand together. Falls back to fit_log_time where the groups are too small.
Fit fit_within_groups(std::span<const Point> points, std::span<const std::uint32_t> groups);

}  // namespace teller::slice_detail
