#include "slice/row_features.h"

#include <algorithm>
#include <cmath>

#include "slice/robust.h"
#include "slice/schedule_signs.h"

namespace teller::slice_detail {
namespace {

float log_count(std::int64_t count) {
  return static_cast<float>(std::log1p(static_cast<double>(std::max<std::int64_t>(count, 0))));
}

// log(1 + count so far) of every row's request, less that of the median request of the whole run;
// 0 where it lies below: what happens to most requests is no sign of one.
std::vector<float> counts_so_far(const Chains& chains, const std::vector<bool>& counts) {
  std::vector<std::uint32_t> so_far(chains.request_count(), 0);
  std::vector<float> result(chains.row_count(), 0);
  std::vector<bool> served(chains.request_count(), false);
  for (std::uint32_t row = 0; row < chains.row_count(); ++row) {
    const std::uint32_t request = chains.rows.request[row];
    if (counts[row]) ++so_far[request];
    served[request] = true;
    result[row] = log_count(so_far[request]);
  }
  std::vector<double> totals;
  for (std::uint32_t request = 0; request < so_far.size(); ++request) {
    if (served[request]) totals.push_back(so_far[request]);
  }
  const auto usual = static_cast<float>(std::log1p(median(std::move(totals))));
  for (float& value : result) value = std::max(value - usual, 0.0F);
  return result;
}

constexpr double kLostScale = 0.05;

// By step: blocks in use that none of its rows accounts for, as a share of all, scaled. A block
// holds a power of two of tokens in every engine known, and what was measured lies below.
std::vector<float> lost_blocks(const Chains& chains) {
  std::vector<float> lost(chains.step_count(), 0);
  const double measured = kv_block_tokens(chains);
  if (measured <= 0) return lost;
  const double block = std::exp2(std::ceil(std::log2(measured) - 0.05));
  std::vector<double> held(chains.step_count(), 0);
  for (std::uint32_t row = 0; row < chains.row_count(); ++row) {
    if (static_cast<RowPhase>(chains.rows.phase[row]) == RowPhase::kPreempted) continue;
    const double tokens = static_cast<double>(chains.rows.computed[row]) +
                          static_cast<double>(chains.rows.scheduled[row]);
    held[chains.rows.step[row]] += std::ceil(std::max(tokens, 0.0) / block);
  }
  for (std::uint32_t step = 0; step < lost.size(); ++step) {
    const std::int32_t free = chains.steps.kv_free[step], total = chains.steps.kv_total[step];
    if (free < 0 || total <= 0) continue;
    const double share = (static_cast<double>(total) - free - held[step]) / total;
    lost[step] = static_cast<float>(std::asinh(std::clamp(share, 0.0, 1.0) / kLostScale));
  }
  return lost;
}

}  // namespace

RowFeatures::RowFeatures(const Chains& chains)
    : chains_(chains), passed_over_(chains.row_count(), false) {
  for (const RequestSchedule& request : read_schedule(chains)) {
    for (const std::uint32_t row : request.passed_over) passed_over_[row] = true;
  }
  std::vector<bool> lost(chains.row_count());
  for (std::uint32_t row = 0; row < lost.size(); ++row) lost[row] = preempted(row);
  passed_count_ = counts_so_far(chains, passed_over_);
  preemption_count_ = counts_so_far(chains, lost);
  kv_lost_ = lost_blocks(chains);
}

bool RowFeatures::preempted(std::uint32_t row) const {
  return static_cast<RowPhase>(chains_.rows.phase[row]) == RowPhase::kPreempted;
}

void RowFeatures::fill(std::uint32_t row, NodeFeatures& features) const {
  const std::uint32_t step = chains_.rows.step[row];
  features[kPassedOver] = passed_over_[row] ? 1 : 0;
  features[kSinceServed] = log_count(chains_.rows.since_served[row]);
  features[kComputedFall] = log_count(chains_.rows.computed_fall[row]);
  features[kScheduled] = log_count(chains_.rows.scheduled[row]);
  features[kPreemptions] = preemption_count_[row];
  features[kPassedCount] = passed_count_[row];
  features[kKvLost] = kv_lost_[step];
  const std::int32_t free = chains_.steps.kv_free[step], total = chains_.steps.kv_total[step];
  if (free < 0 || total <= 0) return;
  const float used = 1 - static_cast<float>(free) / static_cast<float>(total);
  features[kKvUsed] = std::clamp(used, 0.0F, 1.0F);
}

}  // namespace teller::slice_detail
