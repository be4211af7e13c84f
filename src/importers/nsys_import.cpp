// Imports one SQLite export of Nsight Systems.
#include <algorithm>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/mapped_file.h"
#include "base/xxh128.h"
#include "importers/log_lines.h"
#include "importers/nsys_rows.h"
#include "importers/source_import.h"

namespace teller {

using Json = nlohmann::ordered_json;

namespace {

// An id that no text has.
constexpr std::int64_t kNoString = std::numeric_limits<std::int64_t>::min();

constexpr const char* kKeptExportFacts[] = {"EXPORT_PRODUCT_NAME",   "EXPORT_PRODUCT_VERSION",
                                            "EXPORT_SCHEMA_VERSION", "EXPORT_PLATFORM",
                                            "EXPORT_ARCH",           "EXPORT_HOST"};
// Tables that explain others: not events, so not "ignored" either.
constexpr std::string_view kLookupTables[] = {"StringIds",
                                              "META_DATA_EXPORT",
                                              "META_DATA_CAPTURE",
                                              "ThreadNames",
                                              "PROCESSES",
                                              "NVTX_EVENTS",
                                              "DIAGNOSTIC_EVENT",
                                              "ProcessStreams",
                                              "NVTX_PAYLOAD_SCHEMAS",
                                              "NVTX_PAYLOAD_SCHEMA_ENTRIES",
                                              "NVTX_PAYLOAD_ENUMS",
                                              "NVTX_PAYLOAD_ENUM_ENTRIES"};

bool is_lookup(std::string_view table) {
  return table.starts_with("ENUM_") || table.starts_with("TARGET_INFO_") ||
         table.starts_with("sqlite_") ||
         std::find(std::begin(kLookupTables), std::end(kLookupTables), table) !=
             std::end(kLookupTables);
}

// Calls `use` for each row of `sql`, if `table` is there. What can't be read is left out: these
// tables only add names.
template <typename Use>
void each_row(const NsysDatabase& database, std::string_view table, const std::string& sql,
              Use use) {
  if (!database.has_table(table)) return;
  auto query = database.query(sql);
  if (!query) return;
  for (auto more = query->step(); more && *more; more = query->step()) use(*query);
}

void load_thread_names(NsysImport& import) {
  each_row(import.database, "ThreadNames", "SELECT globalTid, nameId FROM ThreadNames",
           [&](const NsysQuery& row) {
             const auto thread = row.number(0);
             const auto name = row.number(1);
             if (!thread || !name) return;
             import.thread_names.emplace(*thread, import.database.string(*name));
           });
}

Json row_as_json(const NsysQuery& row) {
  std::string text;
  for (int i = 0; i < row.columns(); ++i) {
    if (row.is_null(i)) continue;
    begin_member(text, row.column_name(i));
    row.append_json(i, text);
  }
  return text.empty() ? Json::object() : Json::parse(text + "}", nullptr, false);
}

Json clock_of(const NsysDatabase& database) {
  Json clock = {{"base", "relative"}, {"unix_offset_ns", nullptr}};
  each_row(database, "TARGET_INFO_SESSION_START_TIME",
           "SELECT * FROM TARGET_INFO_SESSION_START_TIME", [&](const NsysQuery& row) {
             const Json facts = row_as_json(row);
             const auto number = [&](const char* fact) {
               const auto found = facts.find(fact);
               return found != facts.end() && found->is_number_integer() ? *found : Json();
             };
             if (const Json ns = number("utcEpochNs"); !ns.is_null()) clock["unix_offset_ns"] = ns;
             if (const Json ns = number("systemClockNs"); !ns.is_null()) {
               clock["system_clock_ns"] = ns;
             }
           });
  return clock;
}

// Whether the session's start is stated in a way that clock_of() can't use.
bool start_unread(const NsysDatabase& database) {
  bool stated = false;
  each_row(database, "TARGET_INFO_SESSION_START_TIME",
           "SELECT * FROM TARGET_INFO_SESSION_START_TIME", [&](const NsysQuery& row) {
             for (int i = 0; i < row.columns(); ++i) {
               stated |= row.column_name(i) == "utcEpochNs" && !row.is_null(i);
             }
           });
  return stated && clock_of(database)["unix_offset_ns"].is_null();
}

Json facts_of(const NsysDatabase& database) {
  Json meta;
  Json producer = Json::object();
  each_row(database, "META_DATA_EXPORT", "SELECT name, value FROM META_DATA_EXPORT",
           [&](const NsysQuery& row) {
             const std::string_view name = row.text(0);
             const bool kept = std::any_of(std::begin(kKeptExportFacts), std::end(kKeptExportFacts),
                                           [&](std::string_view fact) { return fact == name; });
             if (kept) producer[std::string(name)] = std::string(row.text(1));
           });
  each_row(database, "TARGET_INFO_SYSTEM_ENV",
           "SELECT value FROM TARGET_INFO_SYSTEM_ENV WHERE name = 'Hostname'",
           [&](const NsysQuery& row) { meta["host"] = std::string(row.text(0)); });
  meta["rank"] = nullptr;
  meta["world_size"] = nullptr;
  meta["clock"] = clock_of(database);
  meta["producer"] = producer;
  Json devices = Json::array();
  each_row(database, "TARGET_INFO_GPU", "SELECT * FROM TARGET_INFO_GPU",
           [&](const NsysQuery& row) { devices.push_back(row_as_json(row)); });
  meta["devices"] = devices;
  return meta;
}

std::string severity(std::int64_t level) {
  constexpr const char* kLevels[] = {"", "info", "warning", "error", "debug"};
  return level >= 0 && level < 5 ? kLevels[level] : "";
}

std::string last_part(std::string_view path) {
  const auto slash = path.find_last_of("/\\");
  return std::string(slash == std::string_view::npos ? path : path.substr(slash + 1));
}

// Gives the lines of logs to who asked for the source, on its clock.
Status load_logs(const NsysDatabase& database, const SourceRequest& request) {
  if (!request.log) return {};
  const Json clock = clock_of(database);
  Status done;
  const auto use = [&](LogLine& line) { return request.log(clock, line); };
  each_row(database, "DIAGNOSTIC_EVENT",
           "SELECT timestamp, severity, text, globalPid FROM DIAGNOSTIC_EVENT",
           [&](const NsysQuery& row) {
             LogLine line;
             line.t_ns = row.number(0);
             line.stream = request.name;
             // Negative ids stand for the profiler itself.
             const std::int64_t process = row.number(3).value_or(0);
             if (process > 0 && global_pid(process) != 0) line.pid = global_pid(process);
             line.level = severity(row.number(1).value_or(0));
             set_log_text(row.text(2), line);
             if (done) done = use(line);
           });
  each_row(database, "ProcessStreams",
           "SELECT globalPid, filenameId, contentId FROM ProcessStreams",
           [&](const NsysQuery& row) {
             LogLine line;
             line.source = last_part(database.string(row.number(1).value_or(kNoString)));
             line.stream = line.source.find("stderr") != std::string::npos ? "stderr" : "stdout";
             if (const auto process = row.number(0)) line.pid = global_pid(*process);
             const std::string_view text = database.string(row.number(2).value_or(kNoString));
             if (done) done = each_log_line(text, line, use);
           });
  return done;
}

bool is_counted(std::string_view table) {
  return table.starts_with("CUPTI_ACTIVITY_KIND_") || table == "NVTX_EVENTS" || table == "OSRT_API";
}

// Rows per table of events, and rows of tables that this version does not read. A table that is
// damaged counts as far as it was read.
Status count_rows(const NsysDatabase& database, Json& rows, Json& ignored) {
  rows = Json::object();
  ignored = Json::object();
  for (const std::string& table : database.tables()) {
    const bool event = is_nsys_event_table(table);
    if (!is_counted(table) && (event || is_lookup(table))) continue;
    const auto count = database.count(table);
    if (!count) continue;
    if (is_counted(table)) {
      rows[table] = *count;
    } else if (*count > 0) {
      ignored[table] = *count;
    }
  }
  return {};
}

// Runs the parts; says what is wrong if the file is damaged and must be whole.
Status read_events(NsysImport& import) {
  TELLER_CHECK_OK(import_nsys_tables(import));
  if (import.truncated_reason.empty() || import.request.allow_truncated) {
    TELLER_CHECK_OK(import_nsys_nvtx(import));
  }
  if (import.truncated_reason.empty() && import.database.is_short()) {
    import.truncated_reason = "its SQLite data stops before its end";
  }
  import.counts.truncated = !import.truncated_reason.empty();
  if (import.counts.truncated && !import.request.allow_truncated) {
    return truncated_error(import.request, import.truncated_reason, import.counts.events);
  }
  return {};
}

// In pieces, so that a large file can be stopped.
Result<std::string> digest_of(const SourceRequest& request, std::string_view text) {
  constexpr std::size_t kPiece = 16u << 20;
  Xxh128 hash;
  for (; !text.empty(); text.remove_prefix(std::min(kPiece, text.size()))) {
    if (stop_requested(request)) return interrupted_error(request);
    hash.update(text.substr(0, kPiece));
  }
  return hash.hex();
}

}  // namespace

Result<SourceResult> import_nsys(const SourceRequest& request, const std::string& output) {
  auto database = NsysDatabase::open(request.path, request.stop);
  if (!database) return with_source(database.error(), request);
  TELLER_TRY(const MappedFile whole, MappedFile::open(request.path, "trace"));
  const Json first = {{"dialect", "nsys"}, {"source", request.name}, {"size_bytes", whole.size()}};
  TELLER_TRY(EventFileWriter writer, EventFileWriter::create_hashed(output, meta_text(first)));
  NsysImport import{request, *database, writer, {}, {}, {}};
  load_thread_names(import);
  if (Status status = read_events(import); !status) {
    return with_source(status.error(), request);
  }
  SourceResult result;
  result.dialect = "nsys";
  result.bytes = whole.size();
  TELLER_TRY(result.digest, digest_of(request, whole.text()));
  TELLER_CHECK_OK(load_logs(*database, request));
  Json meta = facts_of(*database);
  Json ignored;
  TELLER_CHECK_OK(count_rows(*database, result.rows, ignored));
  meta["counts"] = import.counts.to_json();
  meta["rows"] = result.rows;
  meta["tables_ignored"] = ignored;
  if (start_unread(*database)) {
    result.notes.emplace_back(
        "the start of its session (utcEpochNs) is no whole number: what its times count from is "
        "unknown");
  }
  if (import.payloads_unknown > 0) meta["payloads_unknown"] = import.payloads_unknown;
  if (const std::uint64_t views = database->views(); views > 0) {
    meta["views_ignored"] = views;
    result.notes.push_back(std::to_string(views) +
                           " views or tables that SQL computes were not read");
  }
  // Where the tables above were cut short by a stop, nothing said so.
  if (stop_requested(request)) return interrupted_error(request);
  result.clock = meta["clock"];
  TELLER_CHECK_OK(writer.finish(meta_text(meta)));
  result.output_digest = writer.digest();
  result.events_written = writer.events_written();
  result.counts = import.counts;
  result.layers = import.layers.layers();
  result.truncated_reason = import.truncated_reason;
  return result;
}

}  // namespace teller
