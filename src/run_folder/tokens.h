// Trace tokens of a run, as `encode` writes them and the model reads them (tokens.tcol). One unit
// per (step, view), as in slices.h. docs/tpe.md.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "run_folder/chains.h"
#include "run_folder/column_file.h"
#include "run_folder/features.h"
#include "run_folder/run_folder.h"
#include "teller/result.h"

namespace teller {

// Bits of TokenColumns::flags.
enum TokenFlag : std::uint8_t {
  kTokenProtected = 1u << 0,   // kept single in protected mode
  kTokenSuspicious = 1u << 1,  // stands for a node of I_s
};

template <template <typename> class Column>
struct TokenUnitColumns {
  Column<std::uint8_t> view;          // View
  Column<std::uint32_t> step;         // chains step; horizontal: that of the lowest rank
  Column<std::uint32_t> first_token;  // tokens of unit u: [first_token, +token_count)
  Column<std::uint32_t> token_count;
  Column<std::uint32_t> first_edge;
  Column<std::uint32_t> edge_count;
  Column<std::uint32_t> symbols;           // before merging
  Column<std::uint32_t> whole_nodes;       // nodes of the whole trees, before slicing
  Column<std::uint32_t> protected_tokens;  // of token_count
  Column<float> pace;                      // as in slices.h
};

template <template <typename> class Column>
struct TokenColumns {
  Column<std::uint32_t> id;          // input_ids: into the vocabulary
  Column<std::uint32_t> parent;      // parent_idx: index into this table; kNoIndex: none
  Column<std::int64_t> duration_ns;  // Delta: sum over its nodes (inclusive, or self time)
  Column<std::uint16_t> depth;       // of its first node
  Column<std::uint8_t> flags;        // TokenFlag
  Column<std::int32_t> rank;         // -1 unknown
  Column<std::uint32_t> first_node;  // its nodes: token_nodes [first_node, +node_count)
  Column<std::uint32_t> node_count;
  Column<NodeFeatures> features;  // per Feature the value of largest magnitude among its nodes
};

template <template <typename> class Column>
struct TokenNodeColumns {
  Column<std::uint32_t> node;  // chains node; a ghost's: the node that it should stand under
  Column<std::uint8_t> ghost;  // 1: a ghost
};

template <template <typename> class Column>
struct TokenEdgeColumns {
  Column<std::uint32_t> from;  // index into tokens
  Column<std::uint32_t> to;
  Column<std::uint8_t> kind;  // EdgeKind; no edge from a token to itself, none twice
};

template <template <typename> class Column>
struct TokenTables {
  TokenUnitColumns<Column> units;
  TokenColumns<Column> tokens;
  TokenNodeColumns<Column> token_nodes;
  TokenEdgeColumns<Column> edges;
};

template <typename Tables, typename Visit>
requires requires(Tables& t) {
  t.token_nodes.ghost;
}
void visit_columns(Tables& t, Visit&& visit) {
#define TELLER_COLUMN(table, name) visit(#table, #name, t.table.name)
  TELLER_COLUMN(units, view);
  TELLER_COLUMN(units, step);
  TELLER_COLUMN(units, first_token);
  TELLER_COLUMN(units, token_count);
  TELLER_COLUMN(units, first_edge);
  TELLER_COLUMN(units, edge_count);
  TELLER_COLUMN(units, symbols);
  TELLER_COLUMN(units, whole_nodes);
  TELLER_COLUMN(units, protected_tokens);
  TELLER_COLUMN(units, pace);
  TELLER_COLUMN(tokens, id);
  TELLER_COLUMN(tokens, parent);
  TELLER_COLUMN(tokens, duration_ns);
  TELLER_COLUMN(tokens, depth);
  TELLER_COLUMN(tokens, flags);
  TELLER_COLUMN(tokens, rank);
  TELLER_COLUMN(tokens, first_node);
  TELLER_COLUMN(tokens, node_count);
  TELLER_COLUMN(tokens, features);
  TELLER_COLUMN(token_nodes, node);
  TELLER_COLUMN(token_nodes, ghost);
  TELLER_COLUMN(edges, from);
  TELLER_COLUMN(edges, to);
  TELLER_COLUMN(edges, kind);
#undef TELLER_COLUMN
}

// Tokens being made.
struct TokensBuilder : TokenTables<OwnedColumn> {
  Status write(const std::string& path) const;
};

// Tokens of a run, memory-mapped and checked.
class Tokens : public TokenTables<MappedColumn> {
 public:
  // Maps and checks `path` against the run's chains: indices in range, units in order and in one
  // piece, a node in every token, parents before their children, features finite and within
  // kFeatureLimit.
  static Result<Tokens> open(const std::string& path, const Chains& chains);

  std::size_t unit_count() const { return units.view.size(); }
  std::size_t token_count() const { return tokens.id.size(); }

 private:
  Status check(const Chains& chains) const;
  ColumnFile file_;
};

// The artefact "tokens" of a run folder; an Error that names the command which makes it.
Result<Tokens> open_tokens(const RunFolder& run, const Chains& chains);

}  // namespace teller
