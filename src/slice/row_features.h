// Features of rows: what the scheduler did to each request, step by step.
#pragma once

#include <cstdint>
#include <vector>

#include "run_folder/chains.h"
#include "run_folder/features.h"

namespace teller::slice_detail {

class RowFeatures {
 public:
  explicit RowFeatures(const Chains& chains);

  void fill(std::uint32_t row, NodeFeatures& features) const;
  // Passed over, or preempted.
  bool is_suspicious(std::uint32_t row) const { return passed_over_[row] || preempted(row); }

 private:
  bool preempted(std::uint32_t row) const;

  const Chains& chains_;
  std::vector<bool> passed_over_;        // by row
  std::vector<float> passed_count_;      // by row: log(1 + so far), less the run's median
  std::vector<float> preemption_count_;  // likewise
  std::vector<float> kv_lost_;           // by step
};

}  // namespace teller::slice_detail
