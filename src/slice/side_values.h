// What is measured of an operator beside its times: queue delay, gap and bytes.
#pragma once

#include <cstddef>
#include <vector>

#include "slice/observations.h"

namespace teller::slice_detail {

// Natural logarithms; NaN where unknown or not applicable.
struct SideValue {
  float queue_delay;  // log(1 us + begin less begin of the launching call); device nodes
  float gap;          // log(1 us + idle time on its thread or stream since its predecessor)
  float bytes;        // log(bytes / (1 + tokens of the step)); copies
};

// One per observation.
std::vector<SideValue> side_values(const Chains& chains,
                                   const std::vector<Observation>& observations);

// What is usual of one kind of value.
struct SideNorm {
  double centre = 0;
  double spread = 0;      // MAD, never below kSideSpreadFloor
  std::size_t count = 0;  // values; 0: not known

  bool known() const { return count > 0; }
  double deviation(double value) const;  // asinh((value - centre) / spread)
};
inline constexpr double kSideSpreadFloor = 0.25;

struct SideModel {
  SideNorm queue_delay, gap, bytes;
};

// One run's values to learn from.
struct SideLesson {
  const std::vector<Observation>* observations;
  const std::vector<SideValue>* values;
};

// By key id. A norm needs `least` values.
std::vector<SideModel> learn_sides(const std::vector<SideLesson>& runs, std::size_t keys,
                                   std::size_t least);

}  // namespace teller::slice_detail
