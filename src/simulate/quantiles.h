// A distribution given by some of its quantiles.
#pragma once

#include <utility>
#include <vector>

namespace teller::simulate {

class Quantiles {
 public:
  Quantiles() = default;
  // (probability, value), rising. Beyond the outermost ones the last slope goes on for a while.
  explicit Quantiles(std::vector<std::pair<double, double>> points);
  // The value at probability `u` in (0, 1), on straight lines between the points; 0 if empty.
  double at(double u) const;

 private:
  std::vector<std::pair<double, double>> points_;
};

}  // namespace teller::simulate
