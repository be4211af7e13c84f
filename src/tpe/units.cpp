#include "tpe/units.h"

#include <algorithm>

namespace teller::tpe {

namespace {

// One member of a unit: the whole tree of one step.
class MemberTree {
 public:
  MemberTree(const Chains& chains, const Slices& slices, std::uint32_t unit, std::uint32_t member)
      : chains_(chains), slices_(slices), rank_(slices.members.rank[member]) {
    const std::uint32_t step = slices.members.step[member];
    first_ = chains.steps.root[step];
    count_ = chains.steps.node_count[step];
    slice_of_.assign(count_, kNoIndex);
    const std::uint32_t begin = slices.units.first_node[unit];
    std::uint32_t next = first_ + count_;  // the first node behind a ghost
    for (std::uint32_t i = begin + slices.units.node_count[unit]; i-- > begin;) {
      const std::uint32_t node = slices.nodes.node[i];
      if (node < first_ || node - first_ >= count_) continue;
      if ((slices.nodes.flags[i] & kSliceGhost) != 0) {
        ghosts_.push_back({std::max(node + 1, next), i});
      } else {
        slice_of_[node - first_] = i;
        next = node;
      }
    }
    std::reverse(ghosts_.begin(), ghosts_.end());
    std::stable_sort(ghosts_.begin(), ghosts_.end(),
                     [](const Ghost& a, const Ghost& b) { return a.before < b.before; });
  }

  void append_to(std::vector<UnitNode>& out) {
    place_.assign(count_, 0);
    std::size_t ghost = 0;
    for (std::uint32_t i = 0; i <= count_; ++i) {
      for (; ghost < ghosts_.size() && ghosts_[ghost].before == first_ + i; ++ghost) {
        add_ghost(ghosts_[ghost].slice, out);
      }
      if (i < count_) add_node(i, out);
    }
  }

 private:
  struct Ghost {
    std::uint32_t before = 0;  // chains node
    std::uint32_t slice = 0;
  };

  void add_ghost(std::uint32_t slice, std::vector<UnitNode>& out) {
    const std::uint32_t under = slices_.nodes.node[slice];
    out.push_back({under, place_[under - first_], slice, slices_.nodes.depth[slice],
                   slices_.nodes.flags[slice], rank_});
  }

  void add_node(std::uint32_t i, std::vector<UnitNode>& out) {
    place_[i] = static_cast<std::uint32_t>(out.size());
    UnitNode node;
    node.node = first_ + i;
    node.rank = rank_;
    node.slice = slice_of_[i];
    if (node.slice != kNoIndex) node.slice_flags = slices_.nodes.flags[node.slice];
    if (i > 0) {  // a step's tree is in one piece, so the parent lies in it
      node.parent = place_[chains_.nodes.parent[node.node] - first_];
      node.depth = static_cast<std::uint16_t>(std::min(out[node.parent].depth + 1, 0xffff));
    }
    out.push_back(node);
  }

  const Chains& chains_;
  const Slices& slices_;
  std::int32_t rank_;
  std::uint32_t first_ = 0, count_ = 0;
  std::vector<std::uint32_t> slice_of_, place_;
  std::vector<Ghost> ghosts_;
};

}  // namespace

std::vector<UnitNode> slice_nodes(const Slices& slices, std::uint32_t unit) {
  const std::uint32_t first = slices.units.first_node[unit];
  std::vector<UnitNode> nodes(slices.units.node_count[unit]);
  for (std::uint32_t i = 0; i < nodes.size(); ++i) {
    const std::uint32_t at = first + i, parent = slices.nodes.parent[at];
    nodes[i] = {slices.nodes.node[at],
                parent == kNoIndex ? kNoIndex : parent - first,
                at,
                slices.nodes.depth[at],
                slices.nodes.flags[at],
                slices.nodes.rank[at]};
  }
  return nodes;
}

std::vector<UnitNode> whole_nodes(const Chains& chains, const Slices& slices, std::uint32_t unit) {
  std::vector<UnitNode> nodes;
  const std::uint32_t first = slices.units.first_member[unit];
  for (std::uint32_t member = first; member < first + slices.units.member_count[unit]; ++member) {
    MemberTree(chains, slices, unit, member).append_to(nodes);
  }
  return nodes;
}

std::vector<std::size_t> sequence_starts(const std::vector<UnitNode>& nodes) {
  std::vector<std::size_t> starts;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (i == 0 || nodes[i].parent == kNoIndex) starts.push_back(i);
  }
  return starts;
}

}  // namespace teller::tpe
