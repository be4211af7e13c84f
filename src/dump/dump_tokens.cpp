#include "dump/dump_tokens.h"

#include <algorithm>
#include <ostream>

#include "dump/print.h"
#include "run_folder/chains.h"
#include "run_folder/tokens.h"

namespace teller {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kTables[] = {"units", "tokens", "edges"};

Json index_or_null(std::uint32_t index) {
  return index == kNoIndex ? Json() : Json(index);
}

Json unit_of(const Tokens& t, std::size_t unit) {
  return {{"id", unit},
          {"view", view_name(static_cast<View>(t.units.view[unit]))},
          {"step", t.units.step[unit]},
          {"first_token", t.units.first_token[unit]},
          {"tokens", t.units.token_count[unit]},
          {"first_edge", t.units.first_edge[unit]},
          {"edges", t.units.edge_count[unit]},
          {"symbols", t.units.symbols[unit]},
          {"whole_nodes", t.units.whole_nodes[unit]},
          {"protected_tokens", t.units.protected_tokens[unit]},
          {"pace", t.units.pace[unit]}};
}

std::string flags_of(std::uint8_t flags) {
  std::string text = (flags & kTokenProtected) != 0 ? "protected" : "";
  if ((flags & kTokenSuspicious) != 0) text += text.empty() ? "suspicious" : ",suspicious";
  return text;
}

// Features that are not 0, by name.
Json features_of(const NodeFeatures& features) {
  Json named = Json::object();
  for (std::size_t i = 0; i < kFeatureCount; ++i) {
    if (features[i] != 0) named[std::string(kFeatureNames[i])] = features[i];
  }
  return named;
}

// A token with its nodes: "[LAYER,family]", a ghost's with the node that it should stand under.
Json token_of(const Tokens& t, const Chains& chains, std::size_t token) {
  Json nodes = Json::array(), names = Json::array();
  const std::size_t first = t.tokens.first_node[token];
  for (std::size_t i = first; i < first + t.tokens.node_count[token]; ++i) {
    const std::uint32_t node = t.token_nodes.node[i];
    nodes.push_back(node);
    names.push_back((t.token_nodes.ghost[i] != 0 ? "ghost below [" : "[") +
                    std::string(layer_name(chains.layer(node))) + "," +
                    std::string(chains.string(chains.nodes.family[node])) + "]");
  }
  return {{"id", token},
          {"input_id", t.tokens.id[token]},
          {"parent", index_or_null(t.tokens.parent[token])},
          {"duration_ns", t.tokens.duration_ns[token]},
          {"depth", t.tokens.depth[token]},
          {"flags", flags_of(t.tokens.flags[token])},
          {"rank", t.tokens.rank[token]},
          {"nodes", nodes},
          {"names", names},
          {"features", features_of(t.tokens.features[token])}};
}

Json edge_of(const Tokens& t, std::size_t edge) {
  constexpr std::string_view kKinds[] = {"?", "parent", "temporal", "communication"};
  return {
      {"from", t.edges.from[edge]}, {"to", t.edges.to[edge]}, {"kind", kKinds[t.edges.kind[edge]]}};
}

}  // namespace

bool is_tokens_table(std::string_view table) {
  return std::find(std::begin(kTables), std::end(kTables), table) != std::end(kTables);
}

Status dump_tokens(const std::string& path, const std::string& chains_path, std::string_view table,
                   const DumpOptions& options, std::ostream& out) {
  TELLER_TRY(const Chains chains, Chains::open(chains_path));
  TELLER_TRY(const Tokens tokens, Tokens::open(path, chains));
  const auto print = [&](std::string_view name, std::string_view word, std::size_t count,
                         auto&& record) {
    if (!table.empty() && table != name) return;
    if (options.limit != 0) count = std::min<std::size_t>(count, options.limit);
    for (std::size_t i = 0; i < count; ++i) print_record(word, record(i), options.json, out);
  };
  print("units", "token_unit", tokens.unit_count(),
        [&](std::size_t i) { return unit_of(tokens, i); });
  print("tokens", "token", tokens.token_count(),
        [&](std::size_t i) { return token_of(tokens, chains, i); });
  print("edges", "token_edge", tokens.edges.from.size(),
        [&](std::size_t i) { return edge_of(tokens, i); });
  return {};
}

}  // namespace teller
