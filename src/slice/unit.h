// One unit (step and view) before it is cut: the nodes of its trees with all that cutting needs.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "slice/node_features.h"
#include "slice/relevance.h"

namespace teller::slice_detail {

// What keeps a node whatever its relevance.
enum class Role : std::uint8_t {
  kOther,
  kFrame,  // STEP and schedule
  kRow
};

// One entry per node in all vectors, member by member, each in preorder.
struct Unit {
  std::vector<std::uint32_t> node;    // of the chains; of a ghost: the node that it stands under
  std::vector<std::uint32_t> parent;  // index here; kNoIndex: a root
  std::vector<std::int64_t> begin_ns, end_ns;
  std::vector<std::uint32_t> track;  // of the chains; kNoIndex: none
  std::vector<std::uint16_t> depth;
  std::vector<std::int32_t> rank;
  std::vector<NodeFeatures> features;
  std::vector<float> score;
  std::vector<std::uint8_t> suspicious;
  std::vector<std::uint8_t> ghost;
  std::vector<Role> role;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> communication;  // E_c

  std::uint32_t size() const { return static_cast<std::uint32_t>(node.size()); }
  RelevanceGraph graph() const { return {parent, begin_ns, end_ns, suspicious, communication}; }
  void clear();
  // Adds a step's tree; ghosts stand right behind the node that they stand under. Returns the
  // index of each of the tree's nodes.
  std::vector<std::uint32_t> add_member(const Chains& chains, std::uint32_t step, std::int32_t rank,
                                        const StepFeatures& features, float ghost_score);

 private:
  void add_node(const Chains& chains, std::uint32_t chain_node, std::uint32_t parent_index,
                std::int32_t node_rank);
};

// Ties each of a member's collectives to the last node of each thread and stream that it waits on:
// that ended last before the collective began, and not before the collective before it ended.
void tie_regions(const Chains& chains, std::uint32_t first, std::uint32_t end,
                 const std::vector<std::uint32_t>& collectives, Unit& unit);

}  // namespace teller::slice_detail
