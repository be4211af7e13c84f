#include "dump/dump_chains.h"

#include <algorithm>
#include <map>
#include <ostream>
#include <vector>

#include "dump/print.h"
#include "run_folder/chains.h"

namespace teller {

namespace {

using Json = nlohmann::ordered_json;

// The word for one record of a table, and the tables' order.
struct TableWord {
  std::string_view table;
  std::string_view word;
};
constexpr TableWord kTables[] = {{"nodes", "node"},       {"steps", "step"}, {"rows", "row"},
                                 {"requests", "request"}, {"logs", "log"},   {"tracks", "track"},
                                 {"sources", "source"}};

constexpr std::string_view kStringColumns[] = {
    "nodes.name",  "nodes.family", "steps.engine", "requests.id",  "logs.text",
    "logs.stream", "logs.level",   "logs.format",  "logs.process", "logs.source",
    "logs.ranks",  "tracks.label", "sources.name", "sources.host"};

struct NodeFlagName {
  NodeFlag flag;
  const char* name;
};
constexpr NodeFlagName kNodeFlags[] = {
    {kNodeOpen, "open"},           {kNodeRow, "row"},           {kNodeCollective, "collective"},
    {kNodeFailed, "failed"},       {kNodeRepaired, "repaired"}, {kNodeSchedule, "schedule"},
    {kNodeSynthetic, "synthetic"}, {kNodeGraph, "graph"},       {kNodeMark, "mark"}};

std::string node_flags(std::uint64_t flags) {
  std::string text;
  for (const NodeFlagName& entry : kNodeFlags) {
    if ((flags & entry.flag) == 0) continue;
    if (!text.empty()) text += ',';
    text += entry.name;
  }
  return text;
}

std::string_view rule_name(std::uint64_t rule) {
  constexpr std::string_view kNames[] = {"none", "request", "in_flight", "nearest"};
  return rule < std::size(kNames) ? kNames[rule] : "?";
}

// Values of one column as they are printed.
template <typename T>
Json to_json(const Chains& chains, const std::string& column, T value) {
  if constexpr (std::is_integral_v<T>) {
    if (column == "nodes.layer") return layer_name(static_cast<Layer>(value));
    if (column == "nodes.flags") return node_flags(static_cast<std::uint64_t>(value));
    if (column == "rows.phase") return row_phase_name(static_cast<RowPhase>(value));
    if (column == "logs.rule") return rule_name(static_cast<std::uint64_t>(value));
    if (std::find(std::begin(kStringColumns), std::end(kStringColumns), column) !=
        std::end(kStringColumns)) {
      return chains.string(static_cast<std::uint32_t>(value));
    }
    if constexpr (std::is_same_v<T, std::uint32_t>) {
      if (value == kNoIndex) return nullptr;
    }
  }
  return value;
}

std::size_t table_rows(const Chains& chains, std::string_view wanted) {
  std::size_t rows = 0;
  visit_columns(chains, [&](const char* table, const char*, const auto& column) {
    if (table == wanted) rows = std::max<std::size_t>(rows, column.size());
  });
  return rows;
}

Json row_of(const Chains& chains, std::string_view wanted, std::size_t row) {
  Json record = Json::object();
  record["id"] = row;
  visit_columns(chains, [&](const char* table, const char* name, const auto& column) {
    if (table != wanted || row >= column.size()) return;  // absent in files of older versions
    const std::string full = std::string(table) + "." + name;
    const std::string key = full == "requests.id" ? "request" : name;
    record[key] = to_json(chains, full, column[row]);
  });
  return record;
}

}  // namespace

bool is_chains_table(std::string_view table) {
  return std::any_of(std::begin(kTables), std::end(kTables),
                     [&](const TableWord& entry) { return entry.table == table; });
}

Status dump_chains(const std::string& path, std::string_view table, const DumpOptions& options,
                   std::ostream& out) {
  TELLER_TRY(const Chains chains, Chains::open(path));
  for (const TableWord& entry : kTables) {
    if (!table.empty() && table != entry.table) continue;
    std::size_t rows = table_rows(chains, entry.table);
    if (options.limit != 0) rows = std::min<std::size_t>(rows, options.limit);
    for (std::size_t row = 0; row < rows; ++row) {
      print_record(entry.word, row_of(chains, entry.table, row), options.json, out);
    }
  }
  return {};
}

}  // namespace teller
