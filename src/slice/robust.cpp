#include "slice/robust.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

namespace teller::slice_detail {
namespace {

constexpr double kHuber = 1.345;            // 95 % efficiency for normal errors
constexpr double kNormalMad = 1.4826;       // MAD to standard deviation
constexpr double kLeastVariation = 0.05;    // of a covariate, in log units, to get a slope
constexpr std::size_t kMostPoints = 20000;  // more add nothing: a sample is taken
constexpr double kBisquare = 4.685;         // the same efficiency, and no weight far out
constexpr int kHuberRounds = 10;
constexpr int kRounds = 20;

// splitmix64 (Steele, Lea and Flood, 2014).
std::uint64_t scramble(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

// A sample that is the same each time, and has no period: every n-th point might be the same layer
// of each step.
std::vector<Point> thin_out(std::span<const Point> points) {
  if (points.size() <= kMostPoints) return {points.begin(), points.end()};
  std::vector<Point> kept;
  kept.reserve(kMostPoints + kMostPoints / 8);
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (scramble(i) % points.size() < kMostPoints) kept.push_back(points[i]);
  }
  return kept;
}

// One covariate, centred, with its range; `used` is false if it is unknown or hardly varies.
struct Covariate {
  double mean = 0, low = 0, high = 0;
  bool used = false;
};

Covariate describe(const std::vector<Point>& points, double Point::*member) {
  Covariate c;
  double sum = 0, squares = 0;
  c.low = c.high = points.front().*member;
  for (const Point& p : points) {
    const double x = p.*member;
    sum += x;
    squares += x * x;
    c.low = std::min(c.low, x);
    c.high = std::max(c.high, x);
  }
  const double n = static_cast<double>(points.size());
  c.mean = sum / n;
  const double deviation = std::sqrt(std::max(0.0, squares / n - c.mean * c.mean));
  c.used = deviation >= kLeastVariation && points.size() >= 8;
  return c;
}

Eigen::Vector3d solve(const std::vector<Point>& points, const std::vector<double>& weights,
                      const Covariate& tokens, const Covariate& context) {
  Eigen::Matrix3d normal = Eigen::Matrix3d::Zero();
  Eigen::Vector3d right = Eigen::Vector3d::Zero();
  for (std::size_t i = 0; i < points.size(); ++i) {
    const Eigen::Vector3d x(1.0, tokens.used ? points[i].log_tokens - tokens.mean : 0.0,
                            context.used ? points[i].log_context - context.mean : 0.0);
    normal += weights[i] * x * x.transpose();
    right += weights[i] * x * points[i].log_time;
  }
  // A little ridge keeps slopes of collinear covariates small, and the matrix regular.
  const double ridge = 1e-4 * static_cast<double>(points.size());
  normal(1, 1) += ridge;
  normal(2, 2) += ridge;
  return normal.ldlt().solve(right);
}

}  // namespace

double quantile(std::vector<double> values, double fraction) {
  if (values.empty()) return 0;
  const auto at = static_cast<std::size_t>(fraction * static_cast<double>(values.size() - 1) + .5);
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(at);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

double mad_spread(const std::vector<double>& values) {
  const double centre = median(values);
  std::vector<double> distances;
  distances.reserve(values.size());
  for (const double v : values) distances.push_back(std::abs(v - centre));
  return kNormalMad * median(std::move(distances));
}

LeaveOneOut::LeaveOneOut(std::vector<double> values) : values_(std::move(values)) {
  std::sort(values_.begin(), values_.end());
}

std::size_t LeaveOneOut::place_of(double value) const {
  return static_cast<std::size_t>(std::lower_bound(values_.begin(), values_.end(), value) -
                                  values_.begin());
}

double LeaveOneOut::median_of_others(std::size_t left_out) const {
  const std::size_t count = values_.size() - 1;
  const double upper = at(count / 2, left_out);
  return count % 2 == 1 ? upper : (upper + at(count / 2 - 1, left_out)) / 2;
}

double LeaveOneOut::median_without(double value) const {
  return values_.size() < 2 ? 0 : median_of_others(place_of(value));
}

// The i + 1 nearest stand together: looks for the first of them.
double LeaveOneOut::distance(std::size_t i, double centre, std::size_t left_out) const {
  std::size_t low = 0, high = values_.size() - 1 - (i + 1);
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    const double before = centre - at(middle, left_out);
    const double after = at(middle + i + 1, left_out) - centre;
    if (before > after) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return std::max(std::abs(centre - at(low, left_out)), std::abs(at(low + i, left_out) - centre));
}

double LeaveOneOut::spread_without(double value) const {
  if (values_.size() < 2) return 0;
  const std::size_t left_out = place_of(value), count = values_.size() - 1;
  const double centre = median_of_others(left_out);
  const double upper = distance(count / 2, centre, left_out);
  if (count % 2 == 1) return kNormalMad * upper;
  return kNormalMad * (upper + distance(count / 2 - 1, centre, left_out)) / 2;
}

double Fit::predict(double log_tokens, double log_context) const {
  return a + b * std::clamp(log_tokens, tokens_low, tokens_high) +
         c * std::clamp(log_context, context_low, context_high);
}

double Fit::deviation(double residual_value) const {
  return std::asinh(residual_value / std::max(spread, kSpreadFloor));
}

namespace {

// Huber's weights lead to the line whatever the start; Tukey's bisquare then takes the pull from
// what lies far off, such as all the points of one slow request.
double weight(double scaled, int round) {
  if (round < kHuberRounds) return std::min(1.0, kHuber / std::max(std::abs(scaled), 1e-12));
  const double ratio = scaled / kBisquare;
  return std::abs(ratio) >= 1 ? 0 : (1 - ratio * ratio) * (1 - ratio * ratio);
}

Fit fit_slopes(std::span<const Point> all) {
  Fit fit;
  if (all.empty()) return fit;
  const std::vector<Point> points = thin_out(all);
  const Covariate tokens = describe(points, &Point::log_tokens);
  const Covariate context = describe(points, &Point::log_context);
  std::vector<double> weights(points.size(), 1.0);
  std::vector<double> residuals(points.size());
  for (int round = 0; round < kRounds; ++round) {
    const Eigen::Vector3d solution = solve(points, weights, tokens, context);
    fit.b = tokens.used ? solution(1) : 0;
    fit.c = context.used ? solution(2) : 0;
    fit.a = solution(0) - fit.b * tokens.mean - fit.c * context.mean;
    fit.tokens_low = tokens.low, fit.tokens_high = tokens.high;
    fit.context_low = context.low, fit.context_high = context.high;
    for (std::size_t i = 0; i < points.size(); ++i) residuals[i] = fit.residual(points[i]);
    const double scale = std::max(mad_spread(residuals), 1e-6);
    for (std::size_t i = 0; i < points.size(); ++i) {
      weights[i] = weight(residuals[i] / scale, round);
    }
  }
  fit.a += median(residuals);  // healthy points have median 0
  fit.spread = std::max(mad_spread(residuals), kSpreadFloor);
  fit.points = all.size();
  return fit;
}

}  // namespace

Fit fit_log_time(std::span<const Point> points) {
  // Where a covariate is unknown for some points, it cannot explain any.
  const auto unknown = [&points](double Point::*member) {
    return std::any_of(points.begin(), points.end(),
                       [member](const Point& p) { return p.*member < 0; });
  };
  const bool no_tokens = unknown(&Point::log_tokens), no_context = unknown(&Point::log_context);
  if (!no_tokens && !no_context) return fit_slopes(points);
  std::vector<Point> known(points.begin(), points.end());
  for (Point& p : known) {
    if (no_tokens) p.log_tokens = -1;
    if (no_context) p.log_context = -1;
  }
  return fit_slopes(known);
}

namespace {

constexpr std::size_t kSmallestGroup = 3;
constexpr std::size_t kFewestCentred = 30;

// Points less their group's means (its median for the time); groups that are too small are left
// out.
std::vector<Point> centre(std::span<const Point> points, std::span<const std::uint32_t> groups) {
  std::vector<Point> centred;
  for (std::size_t begin = 0; begin < points.size();) {
    std::size_t end = begin;
    Point mean{0, 0, 0};
    std::vector<double> times;
    for (; end < points.size() && groups[end] == groups[begin]; ++end) {
      mean.log_tokens += points[end].log_tokens;
      mean.log_context += points[end].log_context;
      times.push_back(points[end].log_time);
    }
    const double n = static_cast<double>(end - begin);
    const double middle = median(std::move(times));
    for (std::size_t i = begin; i < end && end - begin >= kSmallestGroup; ++i) {
      centred.push_back({points[i].log_tokens - mean.log_tokens / n,
                         points[i].log_context - mean.log_context / n,
                         points[i].log_time - middle});
    }
    begin = end;
  }
  return centred;
}

}  // namespace

Fit fit_within_groups(std::span<const Point> points, std::span<const std::uint32_t> groups) {
  const std::vector<Point> centred = centre(points, groups);
  Fit fit = fit_log_time(points);
  if (centred.size() < kFewestCentred) return fit;
  // Covariates of unknown value (-1) are 0 after centring, and get no slope.
  const Fit within = fit_slopes(centred);
  fit.a = 0;
  fit.b = within.b;
  fit.c = within.c;
  std::vector<double> residuals;
  residuals.reserve(points.size());
  for (const Point& p : points) residuals.push_back(fit.residual(p));
  fit.a = median(residuals);
  fit.spread = std::max(mad_spread(residuals), kSpreadFloor);
  return fit;
}

}  // namespace teller::slice_detail
