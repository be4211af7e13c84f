// The nodes of one unit as trace pair encoding reads them: those of its slice, or whole trees.
#pragma once

#include <cstdint>
#include <vector>

#include "run_folder/chains.h"
#include "run_folder/slices.h"

namespace teller::tpe {

struct UnitNode {
  std::uint32_t node = 0;           // chains node; a ghost's: the node that it should stand under
  std::uint32_t parent = kNoIndex;  // index into the unit
  std::uint32_t slice = kNoIndex;   // index into the slices' nodes; none: not in the slice
  std::uint16_t depth = 0;          // in the whole tree
  std::uint16_t slice_flags = 0;    // SliceFlag
  std::int32_t rank = -1;
  bool is_ghost() const { return (slice_flags & kSliceGhost) != 0; }
};

// Nodes of `unit` in preorder. In whole trees a ghost stands before the node that follows it in the
// slice, below the node that it should stand under.
std::vector<UnitNode> slice_nodes(const Slices& slices, std::uint32_t unit);
std::vector<UnitNode> whole_nodes(const Chains& chains, const Slices& slices, std::uint32_t unit);

// Where each sequence of a unit begins: at its roots. No merge passes from one to the next.
std::vector<std::size_t> sequence_starts(const std::vector<UnitNode>& nodes);

}  // namespace teller::tpe
