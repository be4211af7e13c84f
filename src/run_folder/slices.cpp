#include "run_folder/slices.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "run_folder/check_columns.h"
#include "run_folder/table_file.h"

namespace teller {

namespace {
constexpr const char* kRemedy = "make it again with teller slice RUN";
}

Status SlicesBuilder::write(const std::string& path) const {
  return write_tables(path, static_cast<const SliceTables<OwnedColumn>&>(*this));
}

Result<Slices> Slices::open(const std::string& path, const Chains& chains) {
  Slices slices;
  TELLER_TRY(slices.file_, ColumnFile::open(path));
  TELLER_CHECK_OK(
      map_tables(slices.file_, static_cast<SliceTables<MappedColumn>&>(slices), kRemedy));
  TELLER_CHECK_OK(slices.check(chains));
  return slices;
}

Status Slices::check(const Chains& chains) const {
  const bool good =
      all_below(units.view, 2) && all_below(units.step, chains.step_count()) &&
      covers(units.first_member, units.member_count, members.step.size()) &&
      covers(units.first_node, units.node_count, nodes.node.size()) &&
      covers(units.first_edge, units.edge_count, edges.from.size()) &&
      all_below(members.step, chains.step_count()) && all_below(nodes.node, chains.node_count()) &&
      edges_inside(units.first_node, units.node_count, units.first_edge, units.edge_count,
                   edges.from, edges.to) &&
      parents_inside(units.first_node, units.node_count, nodes.parent) &&
      edge_kinds_known(edges.kind) && all_finite(units.pace) && all_finite(nodes.relevance) &&
      all_finite(nodes.score) && features_sane(nodes.features);
  if (good) return {};
  return Error{ErrorCode::kCorrupt,
               "reading " + file_.path() + ": an index or a value in it is out of range", kRemedy};
}

Result<Slices> open_slices(const RunFolder& run, const Chains& chains) {
  TELLER_TRY(const std::vector<std::string> files, run.require_artifact("slices"));
  for (const std::string& file : files) {
    if (file.ends_with(".tcol")) return Slices::open(run.file(file), chains);
  }
  return Error{ErrorCode::kCorrupt, "reading slices of run " + run.path() + ": no .tcol file", ""};
}

}  // namespace teller
