#include "slice/relevance.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "run_folder/chains.h"

namespace teller::slice_detail {
namespace {

// Answers how far an interval lies from the nearest suspicious one.
class NearestSuspicious {
 public:
  explicit NearestSuspicious(const RelevanceGraph& graph) {
    for (std::size_t v = 0; v < graph.parent.size(); ++v) {
      if (graph.suspicious[v] != 0) intervals_.push_back({graph.begin_ns[v], graph.end_ns[v]});
    }
    std::sort(intervals_.begin(), intervals_.end());
    latest_end_.reserve(intervals_.size());
    std::int64_t latest = std::numeric_limits<std::int64_t>::min();
    for (const auto& [begin, end] : intervals_) {
      latest = std::max(latest, end);
      latest_end_.push_back(latest);
    }
  }

  // 0 if one overlaps [begin, end]. Needs at least one interval.
  std::int64_t gap(std::int64_t begin, std::int64_t end) const {
    const auto after =
        std::upper_bound(intervals_.begin(), intervals_.end(), end,
                         [](std::int64_t time, const auto& one) { return time < one.first; });
    std::int64_t gap = std::numeric_limits<std::int64_t>::max();
    if (after != intervals_.end()) gap = after->first - end;
    if (after != intervals_.begin()) {
      const std::int64_t before =
          latest_end_[static_cast<std::size_t>(after - intervals_.begin() - 1)];
      gap = std::min(gap, std::max<std::int64_t>(begin - before, 0));
    }
    return gap;
  }

  bool empty() const { return intervals_.empty(); }

 private:
  std::vector<std::pair<std::int64_t, std::int64_t>> intervals_;  // by begin
  std::vector<std::int64_t> latest_end_;                          // of intervals_[0..i]
};

enum Tie : std::uint8_t { kKin = 1, kCommunicates = 2 };

// What ties each node to suspicious ones.
std::vector<std::uint8_t> ties(const RelevanceGraph& graph) {
  std::vector<std::uint8_t> tied(graph.parent.size(), 0);
  for (std::size_t v = 0; v < graph.parent.size(); ++v) {
    const std::uint32_t parent = graph.parent[v];
    if (parent == kNoIndex) continue;
    if (graph.suspicious[v] != 0) tied[parent] |= kKin;
    if (graph.suspicious[parent] != 0) tied[v] |= kKin;
  }
  for (const auto& [from, to] : graph.communication) {
    if (graph.suspicious[from] != 0) tied[to] |= kCommunicates;
    if (graph.suspicious[to] != 0) tied[from] |= kCommunicates;
  }
  return tied;
}

}  // namespace

std::vector<float> relevance(const RelevanceGraph& graph, const RelevanceWeights& weights) {
  std::vector<float> result(graph.parent.size(), 0);
  const NearestSuspicious nearest(graph);
  if (nearest.empty()) return result;
  const std::vector<std::uint8_t> tied = ties(graph);
  for (std::size_t v = 0; v < result.size(); ++v) {
    const auto gap = static_cast<double>(nearest.gap(graph.begin_ns[v], graph.end_ns[v]));
    double sum = weights.gamma * std::exp(-gap / weights.tau_ns);
    if (graph.suspicious[v] != 0) sum += weights.alpha;
    if ((tied[v] & kKin) != 0) sum += weights.beta;
    if ((tied[v] & kCommunicates) != 0) sum += weights.eta;
    result[v] = static_cast<float>(sum);
  }
  return result;
}

std::vector<std::uint8_t> ancestors_of_suspicious(const RelevanceGraph& graph,
                                                  std::uint32_t levels) {
  const std::size_t count = graph.parent.size();
  std::vector<std::uint8_t> result(count, 0);
  std::vector<std::uint32_t> left(count, 0);  // levels that may still be climbed from here
  for (std::size_t v = count; v-- > 0;) {
    if (graph.suspicious[v] != 0) left[v] = levels;
    const std::uint32_t parent = graph.parent[v];
    if (parent == kNoIndex || left[v] == 0) continue;
    result[parent] = 1;
    left[parent] = std::max(left[parent], left[v] - 1);
  }
  return result;
}

}  // namespace teller::slice_detail
