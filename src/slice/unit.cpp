#include "slice/unit.h"

#include <algorithm>
#include <limits>
#include <map>

namespace teller::slice_detail {

void Unit::clear() {
  node.clear();
  parent.clear();
  begin_ns.clear();
  end_ns.clear();
  track.clear();
  depth.clear();
  rank.clear();
  features.clear();
  score.clear();
  suspicious.clear();
  ghost.clear();
  role.clear();
  communication.clear();
}

void Unit::add_node(const Chains& chains, std::uint32_t chain_node, std::uint32_t parent_index,
                    std::int32_t node_rank) {
  node.push_back(chain_node);
  parent.push_back(parent_index);
  begin_ns.push_back(chains.nodes.begin_ns[chain_node]);
  end_ns.push_back(chains.nodes.end_ns[chain_node]);
  track.push_back(chains.nodes.track[chain_node]);
  const std::uint32_t above = parent_index == kNoIndex ? 0 : depth[parent_index] + 1U;
  depth.push_back(static_cast<std::uint16_t>(std::min<std::uint32_t>(above, 0xffff)));
  rank.push_back(node_rank);
  ghost.push_back(0);
  const std::uint16_t flags = chains.nodes.flags[chain_node];
  const bool frame = parent_index == kNoIndex || (flags & kNodeSchedule) != 0;
  role.push_back(frame ? Role::kFrame : (flags & kNodeRow) != 0 ? Role::kRow : Role::kOther);
}

std::vector<std::uint32_t> Unit::add_member(const Chains& chains, std::uint32_t step,
                                            std::int32_t member_rank,
                                            const StepFeatures& step_features, float ghost_score) {
  const std::uint32_t root = chains.steps.root[step];
  std::vector<std::uint32_t> place(step_features.nodes.size());
  auto next_ghost = step_features.ghosts.begin();
  for (std::uint32_t i = 0; i < place.size(); ++i) {
    place[i] = size();
    const std::uint32_t above = i == 0 ? kNoIndex : place[chains.nodes.parent[root + i] - root];
    add_node(chains, root + i, above, member_rank);
    features.push_back(step_features.nodes[i]);
    score.push_back(step_features.score[i]);
    suspicious.push_back(step_features.score[i] > 0 ? 1 : 0);
    for (; next_ghost != step_features.ghosts.end() && next_ghost->under == root + i;
         ++next_ghost) {
      add_node(chains, root + i, place[i], member_rank);
      end_ns.back() = begin_ns.back();
      track.back() = kNoIndex;
      role.back() = Role::kOther;
      ghost.back() = 1;
      features.push_back(NodeFeatures{});
      features.back()[kPresence] = -1;
      score.push_back(ghost_score);
      suspicious.push_back(1);
    }
  }
  return place;
}

void tie_regions(const Chains& chains, std::uint32_t first, std::uint32_t end,
                 const std::vector<std::uint32_t>& collectives, Unit& unit) {
  if (collectives.empty()) return;
  std::vector<std::uint32_t> by_end;
  for (std::uint32_t v = first; v < end; ++v) {
    const bool event = unit.ghost[v] == 0 && unit.role[v] == Role::kOther;
    const bool comm = (chains.nodes.flags[unit.node[v]] & kNodeCollective) != 0;
    if (event && !comm && unit.track[v] != kNoIndex) by_end.push_back(v);
  }
  // Of nodes that end together the outermost stands last, and is taken.
  std::sort(by_end.begin(), by_end.end(), [&unit](std::uint32_t a, std::uint32_t b) {
    return std::pair(unit.end_ns[a], b) < std::pair(unit.end_ns[b], a);
  });
  std::map<std::uint32_t, std::uint32_t> last;  // by track, of the region at hand
  std::int64_t region = std::numeric_limits<std::int64_t>::min();
  std::size_t next = 0;
  for (const std::uint32_t collective : collectives) {
    for (; next < by_end.size() && unit.end_ns[by_end[next]] <= unit.begin_ns[collective]; ++next) {
      if (unit.end_ns[by_end[next]] > region) last[unit.track[by_end[next]]] = by_end[next];
    }
    for (const auto& [track, node] : last) unit.communication.emplace_back(node, collective);
    last.clear();
    region = std::max(region, unit.end_ns[collective]);
  }
}

}  // namespace teller::slice_detail
