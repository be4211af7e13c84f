// Causal-context slices of a run, as `slice` writes them and `tpe-train` and `encode` read them
// (slices.tcol). One unit per (step, view): in the vertical view the step, in the horizontal view
// the steps of several ranks with one step number. docs/slice.md.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "run_folder/chains.h"
#include "run_folder/column_file.h"
#include "run_folder/features.h"
#include "run_folder/run_folder.h"
#include "teller/result.h"

namespace teller {

// Bits of SliceNodeColumns::flags.
enum SliceFlag : std::uint16_t {
  kSliceSuspicious = 1u << 0,  // in I_s
  kSliceAncestor = 1u << 1,    // kept as an ancestor of I_s
  kSliceSkeleton = 1u << 2,    // kept for the shape alone: STEP and its first levels, rows
  kSliceGhost = 1u << 3,       // a ghost: `node` is the node that it should stand under
};

template <template <typename> class Column>
struct SliceUnitColumns {
  Column<std::uint8_t> view;           // View
  Column<std::uint32_t> step;          // the step; horizontal: that of the lowest rank
  Column<std::uint32_t> first_member;  // members of unit u: [first_member, +member_count)
  Column<std::uint32_t> member_count;
  Column<std::uint32_t> first_node;  // slice nodes of unit u: [first_node, +node_count)
  Column<std::uint32_t> node_count;
  Column<std::uint32_t> first_edge;  // edges of unit u: [first_edge, +edge_count)
  Column<std::uint32_t> edge_count;
  Column<std::uint32_t> whole_nodes;  // nodes of the whole trees, before slicing
  Column<float> pace;                 // log: how much longer everything took than expected
};

template <template <typename> class Column>
struct SliceMemberColumns {
  Column<std::uint32_t> step;  // chains step
  Column<std::int32_t> rank;   // -1 unknown
};

// Nodes of a unit in preorder (depth-first, children in start order, then longer first, then node
// id); in the horizontal view rank by rank, each rank's STEP being a root.
template <template <typename> class Column>
struct SliceNodeColumns {
  Column<std::uint32_t> node;     // chains node
  Column<std::uint32_t> parent;   // index into this table: nearest kept ancestor; kNoIndex: root
  Column<std::uint16_t> depth;    // in the whole tree; STEP is 0
  Column<std::uint16_t> flags;    // SliceFlag
  Column<std::int32_t> rank;      // -1 unknown
  Column<float> relevance;        // R_s(v)
  Column<float> score;            // of instances in I_s: how suspicious; else 0
  Column<NodeFeatures> features;  // Feature
};

template <template <typename> class Column>
struct SliceEdgeColumns {
  Column<std::uint32_t> from;  // index into nodes
  Column<std::uint32_t> to;
  Column<std::uint8_t> kind;  // EdgeKind
};

template <template <typename> class Column>
struct SliceTables {
  SliceUnitColumns<Column> units;
  SliceMemberColumns<Column> members;
  SliceNodeColumns<Column> nodes;
  SliceEdgeColumns<Column> edges;
};

template <typename Tables, typename Visit>
requires requires(Tables& t) {
  t.units.whole_nodes;
  t.members.rank;
}
void visit_columns(Tables& t, Visit&& visit) {
#define TELLER_COLUMN(table, name) visit(#table, #name, t.table.name)
  TELLER_COLUMN(units, view);
  TELLER_COLUMN(units, step);
  TELLER_COLUMN(units, first_member);
  TELLER_COLUMN(units, member_count);
  TELLER_COLUMN(units, first_node);
  TELLER_COLUMN(units, node_count);
  TELLER_COLUMN(units, first_edge);
  TELLER_COLUMN(units, edge_count);
  TELLER_COLUMN(units, whole_nodes);
  TELLER_COLUMN(units, pace);
  TELLER_COLUMN(members, step);
  TELLER_COLUMN(members, rank);
  TELLER_COLUMN(nodes, node);
  TELLER_COLUMN(nodes, parent);
  TELLER_COLUMN(nodes, depth);
  TELLER_COLUMN(nodes, flags);
  TELLER_COLUMN(nodes, rank);
  TELLER_COLUMN(nodes, relevance);
  TELLER_COLUMN(nodes, score);
  TELLER_COLUMN(nodes, features);
  TELLER_COLUMN(edges, from);
  TELLER_COLUMN(edges, to);
  TELLER_COLUMN(edges, kind);
#undef TELLER_COLUMN
}

// Slices being made.
struct SlicesBuilder : SliceTables<OwnedColumn> {
  Status write(const std::string& path) const;
};

// Slices of a run, memory-mapped and checked.
class Slices : public SliceTables<MappedColumn> {
 public:
  // Maps and checks `path` against the run's chains: indices in range, units in order and in one
  // piece, parents before their children, features finite and within kFeatureLimit.
  static Result<Slices> open(const std::string& path, const Chains& chains);

  std::size_t unit_count() const { return units.view.size(); }
  std::size_t node_count() const { return nodes.node.size(); }

 private:
  Status check(const Chains& chains) const;
  ColumnFile file_;
};

// The artefact "slices" of a run folder; an Error that names the command which makes it.
Result<Slices> open_slices(const RunFolder& run, const Chains& chains);

}  // namespace teller
