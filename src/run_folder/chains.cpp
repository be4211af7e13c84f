#include "run_folder/chains.h"

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <utility>

#include "run_folder/table_file.h"

namespace teller {

namespace {
constexpr const char* kRemedy = "make it again with teller reconstruct RUN";
}

std::string_view row_phase_name(RowPhase phase) {
  switch (phase) {
    case RowPhase::kPrefill:
      return "prefill";
    case RowPhase::kDecode:
      return "decode";
    case RowPhase::kWaiting:
      return "waiting";
    case RowPhase::kPreempted:
      return "preempted";
  }
  return "?";
}

Severity severity_of(std::string_view level) {
  if (level == "ERROR" || level == "CRITICAL" || level == "FATAL") return Severity::kError;
  return level == "WARNING" || level == "WARN" ? Severity::kWarning : Severity::kNone;
}

Status ChainsBuilder::write(const std::string& path) const {
  TELLER_TRY(ColumnFileWriter writer, ColumnFileWriter::create(path));
  TELLER_CHECK_OK(add_tables(writer, *this));
  std::vector<std::uint64_t> ends;
  std::string bytes;
  for (std::uint32_t id = 0; id < strings.size(); ++id) {
    bytes += strings.view(id);
    ends.push_back(bytes.size());
  }
  TELLER_CHECK_OK(writer.add<std::uint64_t>("strings", "end", ends));
  TELLER_CHECK_OK(writer.add<char>("strings", "bytes", std::span<const char>(bytes)));
  return writer.finish();
}

Result<Chains> Chains::open(const std::string& path) {
  Chains chains;
  TELLER_TRY(chains.file_, ColumnFile::open(path));
  TELLER_CHECK_OK(chains.map_columns());
  TELLER_CHECK_OK(chains.check());
  return chains;
}

Error Chains::corrupt(const std::string& why) const {
  return {ErrorCode::kCorrupt, "reading " + file_.path() + ": " + why, kRemedy};
}

namespace {

// Columns that files may lack or leave empty: older ones do.
bool is_optional(std::string_view table, std::string_view name) {
  if (table == "sources") return name == "rank" || name == "host";
  constexpr std::string_view kLogColumns[] = {"entry", "format", "process", "source",
                                              "ranks", "rank",   "stamp_ns"};
  return table == "logs" &&
         std::find(std::begin(kLogColumns), std::end(kLogColumns), name) != std::end(kLogColumns);
}

}  // namespace

Status Chains::map_columns() {
  TELLER_CHECK_OK(map_tables(file_, *this, kRemedy, is_optional));
  TELLER_TRY(string_ends_, file_.column<std::uint64_t>("strings", "end"));
  TELLER_TRY(const auto bytes, file_.column<char>("strings", "bytes"));
  string_bytes_ = {bytes.data(), bytes.size()};
  return {};
}

namespace {

// True if every value is below `limit`, or kNoIndex where that is allowed.
template <typename T>
bool all_below(std::span<const T> column, std::size_t limit, bool none_allowed) {
  return std::all_of(column.begin(), column.end(), [&](T value) {
    return value < limit || (none_allowed && value == static_cast<T>(kNoIndex));
  });
}

bool all_times(std::initializer_list<std::span<const std::int64_t>> columns) {
  return std::all_of(columns.begin(), columns.end(), [](std::span<const std::int64_t> column) {
    return std::all_of(column.begin(), column.end(), [](std::int64_t time) {
      return time >= -kTimeLimitNs && time <= kTimeLimitNs;
    });
  });
}

bool in_order(std::span<const std::int64_t> begins, std::span<const std::int64_t> ends) {
  return std::equal(begins.begin(), begins.end(), ends.begin(), std::less_equal<>());
}

}  // namespace

Status Chains::check() const {
  TELLER_CHECK_OK(check_indexes());
  TELLER_CHECK_OK(check_trees());
  TELLER_CHECK_OK(check_steps());
  return check_times();
}

Status Chains::check_indexes() const {
  if (!std::is_sorted(string_ends_.begin(), string_ends_.end()) ||
      (!string_ends_.empty() && string_ends_.back() != string_bytes_.size())) {
    return corrupt("its string table is damaged");
  }
  const std::size_t strings = string_ends_.size();
  const bool indexes_good =
      all_below(nodes.name, strings, false) && all_below(nodes.family, strings, false) &&
      all_below(nodes.step, step_count(), true) &&
      all_below(nodes.request, request_count(), true) &&
      all_below(nodes.track, tracks.kind.size(), true) &&
      all_below(nodes.source, source_count(), false) && all_below(nodes.layer, 6, false) &&
      all_below(steps.root, node_count(), false) &&
      all_below(steps.schedule, node_count(), false) && all_below(steps.engine, strings, false) &&
      all_below(rows.step, step_count(), false) &&
      all_below(rows.request, request_count(), false) &&
      all_below(rows.node, node_count(), false) && all_below(requests.id, strings, false) &&
      all_below(logs.text, strings, false) && all_below(logs.stream, strings, false) &&
      all_below(logs.level, strings, false) && all_below(logs.request, request_count(), true) &&
      all_below(logs.step, step_count(), true) && all_below(logs.entry, log_count(), false) &&
      all_below(logs.format, strings, false) && all_below(logs.process, strings, false) &&
      all_below(logs.source, strings, false) && all_below(logs.ranks, strings, false) &&
      all_below(tracks.label, strings, false) && all_below(tracks.source, source_count(), false) &&
      all_below(sources.name, strings, false) && all_below(sources.host, strings, false);
  if (!indexes_good) return corrupt("an index in it points outside its table");
  return {};
}

// Preorder: a node's parent is the node before it or one above that. Climbing from there costs
// nothing twice: what is climbed over has no more children.
Status Chains::check_trees() const {
  std::size_t root = 0;  // of the tree that `node` continues
  const auto ends_well = [&](std::size_t end) {
    const std::uint32_t step = nodes.step[root];
    return step == kNoIndex || (steps.root[step] == root && steps.node_count[step] == end - root);
  };
  for (std::size_t node = 0; node < node_count(); ++node) {
    const std::uint32_t parent = nodes.parent[node];
    if (parent == kNoIndex) {
      if (node > 0 && !ends_well(node)) return corrupt("a step's root or size is not its tree's");
      root = node;
      continue;
    }
    if (parent >= node || nodes.step[parent] != nodes.step[node]) {
      return corrupt("a node stands before its parent or in another tree");
    }
    auto above = static_cast<std::uint32_t>(node - 1);
    while (above != parent && above != kNoIndex) above = nodes.parent[above];
    if (above != parent) return corrupt("its nodes are not in preorder");
  }
  if (node_count() > 0 && !ends_well(node_count())) {
    return corrupt("a step's root or size is not its tree's");
  }
  return {};
}

Status Chains::check_steps() const {
  std::uint64_t rows_of_steps = 0;
  for (std::uint32_t step = 0; step < step_count(); ++step) {
    const std::uint32_t root = steps.root[step];
    if (nodes.parent[root] != kNoIndex || nodes.step[root] != step) {
      return corrupt("a step's root heads another tree or none");
    }
    if (nodes.step[steps.schedule[step]] != step) {
      return corrupt("a step's schedule lies outside its tree");
    }
    const std::uint64_t end = std::uint64_t{steps.first_row[step]} + steps.row_count[step];
    if (end > row_count()) return corrupt("a step's rows lie outside their table");
    for (std::uint64_t row = steps.first_row[step]; row < end; ++row) {
      if (rows.step[row] != step) return corrupt("a step's rows are those of another");
    }
    rows_of_steps += steps.row_count[step];
  }
  if (rows_of_steps != row_count()) return corrupt("a row belongs to no step");
  for (std::size_t row = 0; row < row_count(); ++row) {
    if (nodes.step[rows.node[row]] != rows.step[row]) {
      return corrupt("a row's node lies outside its step's tree");
    }
  }
  return {};
}

Status Chains::check_times() const {
  const bool sane =
      all_times({nodes.begin_ns, nodes.end_ns, steps.begin_ns, steps.end_ns, steps.last_ns,
                 rows.end_ns, requests.first_seen_ns, requests.first_scheduled_ns,
                 requests.first_token_ns, requests.last_ns, logs.time_ns, logs.stamp_ns});
  if (!sane) return corrupt("a time in it is larger than any run's");
  const bool ordered =
      in_order(nodes.begin_ns, nodes.end_ns) && in_order(steps.begin_ns, steps.end_ns);
  if (!ordered) return corrupt("something in it ends before it begins");
  const bool busy_good =
      std::all_of(steps.device_busy_ns.begin(), steps.device_busy_ns.end(),
                  [](std::int64_t busy) { return busy >= 0 && busy <= 2 * kTimeLimitNs; });
  if (!busy_good) return corrupt("a step's device time is larger than any run's");
  return {};
}

}  // namespace teller
