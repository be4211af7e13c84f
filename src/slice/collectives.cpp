#include "slice/collectives.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "slice/robust.h"

namespace teller::slice_detail {
namespace {

constexpr double kTransferFloorNs = 1000;

double begin_of(const Chains& chains, std::uint32_t node) {
  return static_cast<double>(chains.nodes.begin_ns[node]);
}

double end_of(const Chains& chains, std::uint32_t node) {
  return static_cast<double>(chains.nodes.end_ns[node]);
}

void measure(const Chains& chains, CollectiveGroup& group) {
  std::vector<double> begins;
  for (const Arrival& one : group.arrivals) begins.push_back(begin_of(chains, one.node));
  const double last = *std::max_element(begins.begin(), begins.end());
  const double middle = median(std::move(begins));
  for (Arrival& one : group.arrivals) {
    const double begin = begin_of(chains, one.node), end = end_of(chains, one.node);
    one.lateness_ns = begin - middle;
    if (end > begin) one.wait_share = std::clamp((last - begin) / (end - begin), 0.0, 1.0);
    one.log_transfer = std::log(kTransferFloorNs + std::max(end - last, 0.0));
    one.open = (chains.nodes.flags[one.node] & kNodeOpen) != 0;
  }
}

}  // namespace

std::vector<RankSteps> steps_across_ranks(const Chains& chains) {
  // (engine, number, rank) -> steps
  using Key = std::tuple<std::string_view, std::int64_t, std::int32_t>;
  std::map<Key, std::uint32_t> seen;
  std::map<std::tuple<std::string_view, std::int64_t, std::uint32_t>, RankSteps> groups;
  for (std::uint32_t step = 0; step < chains.step_count(); ++step) {
    const std::int32_t rank = chains.rank(chains.steps.root[step]);
    const std::int64_t number = chains.steps.number[step];
    if (rank < 0 || number < 0) continue;
    const std::string_view engine = chains.string(chains.steps.engine[step]);
    const std::uint32_t occurrence = seen[Key{engine, number, rank}]++;
    groups[{engine, number, occurrence}].members.push_back({rank, step});
  }
  std::vector<RankSteps> list;
  for (auto& [key, group] : groups) {
    if (group.members.size() < 2) continue;
    std::sort(group.members.begin(), group.members.end(),
              [](const auto& a, const auto& b) { return a.rank < b.rank; });
    list.push_back(std::move(group));
  }
  std::sort(list.begin(), list.end(), [](const RankSteps& a, const RankSteps& b) {
    return a.members.front().step < b.members.front().step;
  });
  return list;
}

std::vector<std::uint32_t> collectives_of_step(const Chains& chains, std::uint32_t step) {
  const std::uint32_t root = chains.steps.root[step];
  const std::uint32_t count = chains.steps.node_count[step];
  std::vector<std::uint32_t> device, host;
  std::vector<bool> inside(count, false);  // a collective, or inside one
  for (std::uint32_t i = 0; i < count; ++i) {
    const bool above = i > 0 && inside[chains.nodes.parent[root + i] - root];
    const bool own = (chains.nodes.flags[root + i] & kNodeCollective) != 0;
    inside[i] = above || own;
    if (!own) continue;
    if (chains.layer(root + i) == Layer::kKernel) {
      device.push_back(root + i);
    } else if (!above) {
      host.push_back(root + i);
    }
  }
  std::vector<std::uint32_t>& list = device.empty() ? host : device;
  std::stable_sort(list.begin(), list.end(), [&chains](std::uint32_t a, std::uint32_t b) {
    return chains.nodes.begin_ns[a] < chains.nodes.begin_ns[b];
  });
  return std::move(list);
}

std::vector<CollectiveGroup> match_collectives(const Chains& chains, const RankSteps& steps) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, CollectiveGroup> groups;  // (family, n)
  for (std::uint32_t member = 0; member < steps.members.size(); ++member) {
    std::map<std::uint32_t, std::uint32_t> count;  // by family
    for (const std::uint32_t node : collectives_of_step(chains, steps.members[member].step)) {
      const std::uint32_t family = chains.nodes.family[node];
      CollectiveGroup& group = groups[{family, count[family]++}];
      group.family = family;
      group.arrivals.push_back({node, member, 0, 0, 0, false});
    }
  }
  std::vector<CollectiveGroup> list;
  for (auto& [key, group] : groups) {
    if (group.arrivals.size() < 2) continue;
    measure(chains, group);
    list.push_back(std::move(group));
  }
  return list;
}

void CollectiveLesson::add(const Chains& chains) {
  for (const RankSteps& steps : steps_across_ranks(chains)) {
    for (const CollectiveGroup& group : match_collectives(chains, steps)) {
      Seen& seen = seen_[std::string(chains.string(group.family))];
      for (const Arrival& one : group.arrivals) {
        if (one.open) continue;
        seen.lateness.push_back(one.lateness_ns);
        seen.transfer.push_back(one.log_transfer);
      }
    }
  }
}

CollectiveNorms CollectiveLesson::norms(std::size_t least) const {
  CollectiveNorms norms;
  for (const auto& [family, seen] : seen_) {
    if (seen.lateness.size() < least) continue;
    CollectiveNorm norm;
    norm.late_spread_ns = std::max(mad_spread(seen.lateness), kLateFloorNs);
    norm.transfer.count = seen.transfer.size();
    norm.transfer.spread = std::max(mad_spread(seen.transfer), kSideSpreadFloor);
    norm.transfer.centre = median(seen.transfer);
    norms.emplace(family, norm);
  }
  return norms;
}

}  // namespace teller::slice_detail
