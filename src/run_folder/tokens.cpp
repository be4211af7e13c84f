#include "run_folder/tokens.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "run_folder/check_columns.h"
#include "run_folder/table_file.h"

namespace teller {

namespace {
constexpr const char* kRemedy = "make it again with teller encode RUN --vocab FILE";
}

Status TokensBuilder::write(const std::string& path) const {
  return write_tables(path, static_cast<const TokenTables<OwnedColumn>&>(*this));
}

Result<Tokens> Tokens::open(const std::string& path, const Chains& chains) {
  Tokens tokens;
  TELLER_TRY(tokens.file_, ColumnFile::open(path));
  TELLER_CHECK_OK(
      map_tables(tokens.file_, static_cast<TokenTables<MappedColumn>&>(tokens), kRemedy));
  TELLER_CHECK_OK(tokens.check(chains));
  return tokens;
}

Status Tokens::check(const Chains& chains) const {
  const bool good =
      all_below(units.view, 2) && all_below(units.step, chains.step_count()) &&
      covers(units.first_token, units.token_count, tokens.id.size()) &&
      covers(units.first_edge, units.edge_count, edges.from.size()) &&
      covers(tokens.first_node, tokens.node_count, token_nodes.node.size()) &&
      all_above(tokens.node_count, 0) && all_below(token_nodes.node, chains.node_count()) &&
      edges_inside(units.first_token, units.token_count, units.first_edge, units.edge_count,
                   edges.from, edges.to) &&
      parents_inside(units.first_token, units.token_count, tokens.parent) &&
      edge_kinds_known(edges.kind) && all_finite(units.pace) && features_sane(tokens.features);
  if (good) return {};
  return Error{ErrorCode::kCorrupt,
               "reading " + file_.path() + ": an index or a value in it is out of range", kRemedy};
}

Result<Tokens> open_tokens(const RunFolder& run, const Chains& chains) {
  TELLER_TRY(const std::vector<std::string> files, run.require_artifact("tokens"));
  for (const std::string& file : files) {
    if (file.ends_with(".tcol")) return Tokens::open(run.file(file), chains);
  }
  return Error{ErrorCode::kCorrupt, "reading tokens of run " + run.path() + ": no .tcol file", ""};
}

}  // namespace teller
