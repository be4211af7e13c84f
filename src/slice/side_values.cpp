#include "slice/side_values.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "base/saturate.h"

namespace teller::slice_detail {
namespace {

constexpr float kUnknown = std::numeric_limits<float>::quiet_NaN();
constexpr std::int64_t kFloorNs = 1000;  // shorter delays and gaps are all alike

float log_time(std::int64_t ns) {
  const std::int64_t above = std::max<std::int64_t>(ns, 0);
  return static_cast<float>(std::log(static_cast<double>(saturating_add(above, kFloorNs))));
}

bool is_device(const Chains& chains, std::uint32_t node) {
  return chains.layer(node) == Layer::kKernel;
}

float queue_delay(const Chains& chains, std::uint32_t node) {
  const std::uint32_t call = chains.nodes.parent[node];
  if (!is_device(chains, node) || call == kNoIndex || chains.layer(call) != Layer::kRuntime) {
    return kUnknown;
  }
  return log_time(saturating_sub(chains.nodes.begin_ns[node], chains.nodes.begin_ns[call]));
}

float bytes_per_token(const Chains& chains, const Observation& o) {
  const std::int64_t bytes = chains.nodes.value[o.node];
  if (!is_device(chains, o.node) || bytes <= 0) return kUnknown;
  const std::int64_t tokens = std::max<std::int64_t>(chains.steps.tokens[o.step], 0);
  return static_cast<float>(std::log(static_cast<double>(bytes)) -
                            std::log1p(static_cast<double>(tokens)));
}

// Gaps of host nodes: to the sibling before them on their thread, or to the begin of their parent.
class HostGaps {
 public:
  explicit HostGaps(const Chains& chains)
      : chains_(chains), last_end_(chains.nodes.begin_ns.begin(), chains.nodes.begin_ns.end()) {}

  float next(std::uint32_t node) {
    const std::uint32_t parent = chains_.nodes.parent[node];
    if (parent == kNoIndex || chains_.nodes.track[parent] != chains_.nodes.track[node]) {
      return kUnknown;
    }
    const float gap = log_time(saturating_sub(chains_.nodes.begin_ns[node], last_end_[parent]));
    last_end_[parent] = std::max(last_end_[parent], chains_.nodes.end_ns[node]);
    return gap;
  }

 private:
  const Chains& chains_;
  std::vector<std::int64_t> last_end_;  // of each node's children so far, else its begin
};

// Gaps of a step's device nodes: [begin, end) of `observations`, in order of time.
void device_gaps(const Chains& chains, const std::vector<Observation>& observations,
                 std::vector<std::size_t>& devices, std::vector<SideValue>& values) {
  std::sort(devices.begin(), devices.end(), [&](std::size_t a, std::size_t b) {
    const std::int64_t left = chains.nodes.begin_ns[observations[a].node];
    const std::int64_t right = chains.nodes.begin_ns[observations[b].node];
    return std::pair(left, a) < std::pair(right, b);
  });
  std::map<std::uint32_t, std::int64_t> last_end;  // by track
  for (const std::size_t i : devices) {
    const std::uint32_t node = observations[i].node;
    const auto [last, is_first] =
        last_end.try_emplace(chains.nodes.track[node], chains.nodes.end_ns[node]);
    if (is_first) continue;
    values[i].gap = log_time(saturating_sub(chains.nodes.begin_ns[node], last->second));
    last->second = std::max(last->second, chains.nodes.end_ns[node]);
  }
  devices.clear();
}

SideNorm norm_of(const std::vector<float>& seen, std::size_t least) {
  SideNorm norm;
  if (seen.size() < least) return norm;
  std::vector<double> values(seen.begin(), seen.end());
  norm.count = values.size();
  norm.spread = std::max(mad_spread(values), kSideSpreadFloor);
  norm.centre = median(std::move(values));
  return norm;
}

}  // namespace

std::vector<SideValue> side_values(const Chains& chains,
                                   const std::vector<Observation>& observations) {
  std::vector<SideValue> values(observations.size(), {kUnknown, kUnknown, kUnknown});
  HostGaps gaps(chains);
  std::vector<std::size_t> devices;  // of the step at hand
  for (std::size_t i = 0; i < observations.size(); ++i) {
    const Observation& o = observations[i];
    if (i > 0 && observations[i - 1].step != o.step) {
      device_gaps(chains, observations, devices, values);
    }
    values[i].queue_delay = queue_delay(chains, o.node);
    values[i].bytes = bytes_per_token(chains, o);
    if (is_device(chains, o.node)) {
      devices.push_back(i);
    } else {
      values[i].gap = gaps.next(o.node);
    }
  }
  device_gaps(chains, observations, devices, values);
  return values;
}

double SideNorm::deviation(double value) const {
  return std::asinh((value - centre) / spread);
}

std::vector<SideModel> learn_sides(const std::vector<SideLesson>& runs, std::size_t keys,
                                   std::size_t least) {
  struct Seen {
    std::vector<float> queue_delay, gap, bytes;
  };
  std::vector<Seen> seen(keys);
  for (const SideLesson& run : runs) {
    for (std::size_t i = 0; i < run.values->size(); ++i) {
      Seen& one = seen[(*run.observations)[i].key];
      const SideValue& value = (*run.values)[i];
      if (!std::isnan(value.queue_delay)) one.queue_delay.push_back(value.queue_delay);
      if (!std::isnan(value.gap)) one.gap.push_back(value.gap);
      if (!std::isnan(value.bytes)) one.bytes.push_back(value.bytes);
    }
  }
  std::vector<SideModel> models(keys);
  for (std::size_t key = 0; key < keys; ++key) {
    models[key] = {norm_of(seen[key].queue_delay, least), norm_of(seen[key].gap, least),
                   norm_of(seen[key].bytes, least)};
  }
  return models;
}

}  // namespace teller::slice_detail
