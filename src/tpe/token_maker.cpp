#include "tpe/token_maker.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/saturate.h"

namespace teller::tpe {

namespace {

// Host time of each node's children, clipped to the node: what docs/localise.md calls self time is
// the rest.
std::vector<std::int64_t> time_of_children(const Chains& chains) {
  std::vector<std::int64_t> inside(chains.node_count(), 0);
  for (std::uint32_t node = 0; node < chains.node_count(); ++node) {
    const std::uint32_t parent = chains.nodes.parent[node];
    if (parent == kNoIndex || chains.layer(node) == Layer::kKernel) continue;
    const auto begin = std::max(chains.nodes.begin_ns[node], chains.nodes.begin_ns[parent]);
    const auto end = std::min(chains.nodes.end_ns[node], chains.nodes.end_ns[parent]);
    inside[parent] = saturating_add(inside[parent], std::max<std::int64_t>(end - begin, 0));
  }
  return inside;
}

}  // namespace

struct TokenMaker::Unit {
  std::uint32_t number = 0;
  std::vector<UnitNode> nodes;
  std::vector<Id> ids;                  // per node
  std::vector<bool> is_protected;       // per node
  std::vector<std::uint32_t> token_of;  // per node: index into tokens
  EncodeCounts counts;
};

TokenMaker::TokenMaker(const Vocabulary& vocabulary, const Chains& chains, const Slices& slices,
                       const EncodeOptions& options)
    : chains_(chains),
      slices_(slices),
      options_(options),
      ids_(vocabulary, chains),
      merger_(vocabulary) {
  if (options.self_time) inside_ = time_of_children(chains);
}

// What a fault may be found on stays single: suspicious nodes, ghosts, their ancestors, and rows.
void TokenMaker::protect(Unit& unit) const {
  unit.is_protected.assign(unit.nodes.size(), false);
  if (!options_.protect) return;
  constexpr std::uint16_t kMatters = kSliceSuspicious | kSliceGhost;
  std::vector<bool> has_such_below(unit.nodes.size(), false);
  for (std::size_t i = unit.nodes.size(); i-- > 0;) {
    const UnitNode& node = unit.nodes[i];
    const bool is_row = !node.is_ghost() && (chains_.nodes.flags[node.node] & kNodeRow) != 0;
    const bool matters = (node.slice_flags & kMatters) != 0 || has_such_below[i];
    unit.is_protected[i] = matters || is_row;
    if (matters && node.parent != kNoIndex) has_such_below[node.parent] = true;
  }
}

void TokenMaker::add(std::uint32_t number) {
  Unit unit;
  unit.number = number;
  unit.nodes =
      options_.whole_step ? whole_nodes(chains_, slices_, number) : slice_nodes(slices_, number);
  protect(unit);
  for (const UnitNode& node : unit.nodes) {
    unit.ids.push_back(node.is_ghost() ? Id{kGhost} : ids_.of(node.node));
    if (unit.ids.back() == kUnknown) ++unit.counts.unknown;
    if (ids_.is_other(unit.ids.back())) ++unit.counts.others;
  }
  unit.token_of.resize(unit.nodes.size());
  const auto first_token = static_cast<std::uint32_t>(out_.tokens.id.size());
  const std::vector<std::size_t> starts = sequence_starts(unit.nodes);
  for (std::size_t i = 0; i < starts.size(); ++i) {
    segment(unit, starts[i], i + 1 < starts.size() ? starts[i + 1] : unit.nodes.size());
  }
  const auto first_edge = static_cast<std::uint32_t>(out_.edges.from.size());
  add_edges(unit);
  auto& units = out_.units;
  units.view.push_back(slices_.units.view[number]);
  units.step.push_back(slices_.units.step[number]);
  units.first_token.push_back(first_token);
  units.token_count.push_back(static_cast<std::uint32_t>(out_.tokens.id.size()) - first_token);
  units.first_edge.push_back(first_edge);
  units.edge_count.push_back(static_cast<std::uint32_t>(out_.edges.from.size()) - first_edge);
  units.symbols.push_back(static_cast<std::uint32_t>(unit.nodes.size()));
  units.whole_nodes.push_back(slices_.units.whole_nodes[number]);
  units.protected_tokens.push_back(static_cast<std::uint32_t>(unit.counts.protected_tokens));
  units.pace.push_back(slices_.units.pace[number]);
  EncodeCounts& counts = counts_[slices_.units.view[number]];
  ++counts.units;
  counts.whole_nodes += units.whole_nodes.back();
  counts.symbols += unit.nodes.size();
  counts.tokens += units.token_count.back();
  counts.protected_tokens += unit.counts.protected_tokens;
  counts.unknown += unit.counts.unknown;
  counts.others += unit.counts.others;
}

// Merges the nodes [begin, end), no merge passing a protected one, and appends their tokens.
void TokenMaker::segment(Unit& unit, std::size_t begin, std::size_t end) {
  cells_.assign(1, kBarrier);
  for (std::size_t i = begin; i < end; ++i) {
    cells_.push_back(unit.is_protected[i] ? kBarrier : unit.ids[i]);
  }
  cells_.push_back(kBarrier);
  merger_.merge(cells_);
  for (std::size_t i = begin; i < end;) {
    const Id id = unit.is_protected[i] ? unit.ids[i] : cells_[1 + i - begin];
    const std::size_t length = merger_.length(id);
    add_token(unit, i, i + length, id);
    i += length;
  }
}

void TokenMaker::add_token(Unit& unit, std::size_t begin, std::size_t end, Id id) {
  auto& tokens = out_.tokens;
  const auto number = static_cast<std::uint32_t>(tokens.id.size());
  const UnitNode& first = unit.nodes[begin];
  std::int64_t duration_ns = 0;
  NodeFeatures features{};
  std::uint8_t flags = unit.is_protected[begin] ? kTokenProtected : 0;
  tokens.first_node.push_back(static_cast<std::uint32_t>(out_.token_nodes.node.size()));
  for (std::size_t i = begin; i < end; ++i) {
    const UnitNode& node = unit.nodes[i];
    unit.token_of[i] = number;
    duration_ns = saturating_add(duration_ns, duration(node));
    merge_features(features, node);
    if ((node.slice_flags & kSliceSuspicious) != 0) flags |= kTokenSuspicious;
    out_.token_nodes.node.push_back(node.node);
    out_.token_nodes.ghost.push_back(node.is_ghost() ? 1 : 0);
  }
  unit.counts.protected_tokens += unit.is_protected[begin] ? 1 : 0;
  tokens.id.push_back(id);
  tokens.parent.push_back(first.parent == kNoIndex ? kNoIndex : unit.token_of[first.parent]);
  tokens.duration_ns.push_back(duration_ns);
  tokens.depth.push_back(first.depth);
  tokens.flags.push_back(flags);
  tokens.rank.push_back(first.rank);
  tokens.node_count.push_back(static_cast<std::uint32_t>(end - begin));
  tokens.features.push_back(features);
}

std::int64_t TokenMaker::duration(const UnitNode& node) const {
  if (node.is_ghost()) return 0;
  const std::int64_t inclusive = std::max<std::int64_t>(
      chains_.nodes.end_ns[node.node] - chains_.nodes.begin_ns[node.node], 0);
  if (!options_.self_time || chains_.layer(node.node) == Layer::kKernel) return inclusive;
  return std::max<std::int64_t>(saturating_sub(inclusive, inside_[node.node]), 0);
}

void TokenMaker::merge_features(NodeFeatures& features, const UnitNode& node) const {
  if (node.slice == kNoIndex) return;
  const NodeFeatures& own = slices_.nodes.features[node.slice];
  for (std::size_t i = 0; i < kFeatureCount; ++i) {
    if (std::fabs(own[i]) > std::fabs(features[i])) features[i] = own[i];
  }
}

// Edges of the slice, from token to token. In whole trees the parent edges are those of the trees.
void TokenMaker::add_edges(const Unit& unit) {
  const std::uint32_t first_node = slices_.units.first_node[unit.number];
  std::vector<std::uint32_t> token_of_slice(slices_.units.node_count[unit.number], kNoIndex);
  std::vector<std::array<std::uint32_t, 3>> edges;
  constexpr auto kParentKind = static_cast<std::uint8_t>(EdgeKind::kParent);
  for (std::size_t i = 0; i < unit.nodes.size(); ++i) {
    const UnitNode& node = unit.nodes[i];
    if (node.slice != kNoIndex) token_of_slice[node.slice - first_node] = unit.token_of[i];
    if (options_.whole_step && node.parent != kNoIndex) {
      edges.push_back({unit.token_of[node.parent], unit.token_of[i], kParentKind});
    }
  }
  const std::uint32_t first_edge = slices_.units.first_edge[unit.number];
  for (std::uint32_t i = first_edge; i < first_edge + slices_.units.edge_count[unit.number]; ++i) {
    const std::uint8_t kind = slices_.edges.kind[i];
    if (options_.whole_step && kind == kParentKind) continue;
    edges.push_back({token_of_slice[slices_.edges.from[i] - first_node],
                     token_of_slice[slices_.edges.to[i] - first_node], kind});
  }
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  for (const auto& [from, to, kind] : edges) {
    if (from == to || from == kNoIndex || to == kNoIndex) continue;
    out_.edges.from.push_back(from);
    out_.edges.to.push_back(to);
    out_.edges.kind.push_back(static_cast<std::uint8_t>(kind));
  }
}

}  // namespace teller::tpe
