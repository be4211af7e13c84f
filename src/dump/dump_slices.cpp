#include "dump/dump_slices.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ostream>

#include "dump/print.h"
#include "run_folder/locator.h"
#include "run_folder/open_chains.h"
#include "run_folder/slices.h"

namespace teller {
namespace {

using Json = nlohmann::ordered_json;

std::string flag_names(std::uint16_t flags) {
  constexpr std::pair<SliceFlag, const char*> kNames[] = {{kSliceSuspicious, "suspicious"},
                                                          {kSliceAncestor, "ancestor"},
                                                          {kSliceSkeleton, "skeleton"},
                                                          {kSliceGhost, "ghost"}};
  std::string text;
  for (const auto& [flag, name] : kNames) {
    if ((flags & flag) == 0) continue;
    if (!text.empty()) text += ',';
    text += name;
  }
  return text;
}

const char* edge_name(std::uint8_t kind) {
  switch (static_cast<EdgeKind>(kind)) {
    case EdgeKind::kParent:
      return "parent";
    case EdgeKind::kTemporal:
      return "temporal";
    case EdgeKind::kCommunication:
      return "communication";
  }
  return "?";
}

Json rank_json(std::int32_t rank) {
  return rank < 0 ? Json() : Json(rank);
}

Json unit_json(const Slices& slices, std::size_t unit) {
  return {{"id", unit},
          {"view", view_name(static_cast<View>(slices.units.view[unit]))},
          {"step", slices.units.step[unit]},
          {"members", slices.units.member_count[unit]},
          {"nodes", slices.units.node_count[unit]},
          {"edges", slices.units.edge_count[unit]},
          {"whole_nodes", slices.units.whole_nodes[unit]},
          {"pace", rounded(slices.units.pace[unit])}};
}

Json node_json(const Chains& chains, const Slices& slices, std::size_t i) {
  const std::uint32_t node = slices.nodes.node[i], parent = slices.nodes.parent[i];
  Json features = Json::object();
  for (std::size_t f = 0; f < kFeatureCount; ++f) {
    if (slices.nodes.features[i][f] == 0) continue;
    features[std::string(kFeatureNames[f])] = rounded(slices.nodes.features[i][f]);
  }
  return {{"id", i},
          {"node", node},
          {"layer", layer_name(chains.layer(node))},
          {"family", chains.string(chains.nodes.family[node])},
          {"parent", parent == kNoIndex ? Json() : Json(parent)},
          {"depth", slices.nodes.depth[i]},
          {"flags", flag_names(slices.nodes.flags[i])},
          {"rank", rank_json(slices.nodes.rank[i])},
          {"relevance", rounded(slices.nodes.relevance[i])},
          {"score", rounded(slices.nodes.score[i])},
          {"features", std::move(features)}};
}

void dump_unit(const Chains& chains, const Slices& slices, std::size_t unit, bool json,
               std::ostream& out) {
  print_record("unit", unit_json(slices, unit), json, out);
  const std::size_t member = slices.units.first_member[unit];
  for (std::size_t i = member; i < member + slices.units.member_count[unit]; ++i) {
    print_record("member",
                 {{"unit", unit},
                  {"step", slices.members.step[i]},
                  {"rank", rank_json(slices.members.rank[i])}},
                 json, out);
  }
  const std::size_t node = slices.units.first_node[unit];
  for (std::size_t i = node; i < node + slices.units.node_count[unit]; ++i) {
    print_record("slice_node", node_json(chains, slices, i), json, out);
  }
  const std::size_t edge = slices.units.first_edge[unit];
  for (std::size_t i = edge; i < edge + slices.units.edge_count[unit]; ++i) {
    print_record("edge",
                 {{"from", slices.edges.from[i]},
                  {"to", slices.edges.to[i]},
                  {"kind", edge_name(slices.edges.kind[i])}},
                 json, out);
  }
}

void dump_units(const Chains& chains, const Slices& slices, const DumpOptions& options,
                std::ostream& out) {
  std::size_t units = slices.unit_count();
  if (options.limit != 0) units = std::min<std::size_t>(units, options.limit);
  for (std::size_t unit = 0; unit < units; ++unit) {
    dump_unit(chains, slices, unit, options.json, out);
  }
}

}  // namespace

Status dump_slices(const RunFolder& run, const DumpOptions& options, std::ostream& out) {
  TELLER_TRY(const Chains chains, open_chains(run));
  TELLER_TRY(const Slices slices, open_slices(run, chains));
  dump_units(chains, slices, options, out);
  return {};
}

Status dump_slices(const std::string& path, const std::string& chains_path,
                   const DumpOptions& options, std::ostream& out) {
  TELLER_TRY(const Chains chains, Chains::open(chains_path));
  TELLER_TRY(const Slices slices, Slices::open(path, chains));
  dump_units(chains, slices, options, out);
  return {};
}

}  // namespace teller
