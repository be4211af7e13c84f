#include "importers/nsys_database.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "base/utf8.h"
#include "importers/json_text.h"
#include "importers/source_import.h"

namespace teller {

namespace {

// Larger texts and rows are refused: SQLite holds them in memory.
constexpr int kValueBytes = 256 << 20;
// Steps of SQLite's machine between two looks at the stop flag.
constexpr int kStopSteps = 10000;

// SQLite's messages quote the file: names in a damaged schema may be long and hold anything.
std::string one_line(std::string_view message) {
  std::string text;
  append_valid_utf8(message.substr(0, 200), text);
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  }
  return text;
}

Error sqlite_error(int code, sqlite3* db) {
  const std::string why = one_line(db != nullptr ? sqlite3_errmsg(db) : sqlite3_errstr(code));
  switch (code & 0xFF) {
    case SQLITE_INTERRUPT:
      return {ErrorCode::kInterrupted, "stopped on request", ""};
    case SQLITE_TOOBIG:
      return {ErrorCode::kUnsupported,
              "a value in it is larger than " + std::to_string(kValueBytes >> 20) + " MiB", ""};
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_NOMEM:
      return {ErrorCode::kIo, "its SQLite data can't be read: " + why, ""};
    default:
      return {ErrorCode::kCorrupt, "its SQLite data is damaged: " + why, ""};
  }
}

int stop_asked(void* stop) {
  return static_cast<const std::atomic<bool>*>(stop)->load(std::memory_order_relaxed) ? 1 : 0;
}

// `immutable` keeps SQLite from looking for or making a journal beside the file.
std::string read_only_uri(const std::string& path) {
  constexpr char kHex[] = "0123456789ABCDEF";
  std::string uri = "file:";
  for (unsigned char c : path) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '/' || c == '.' || c == '_' || c == '-';
    if (plain) {
      uri += static_cast<char>(c);
    } else {
      ((uri += '%') += kHex[c >> 4]) += kHex[c & 15];
    }
  }
  return uri + "?mode=ro&immutable=1";
}

std::string quoted_name(const std::string& name) {
  std::string quoted = "\"";
  for (char c : name) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

// Whether the file ends before the last page that its header counts.
bool file_is_short(const std::string& path) {
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  const auto size = static_cast<std::int64_t>(in.tellg());
  unsigned char header[100] = {};
  in.seekg(0);
  if (size < 100 || !in.read(reinterpret_cast<char*>(header), sizeof header)) return true;
  const auto be = [&](int at, int bytes) {
    std::uint64_t value = 0;
    for (int i = 0; i < bytes; ++i) value = value << 8 | header[at + i];
    return value;
  };
  const std::uint64_t page = be(16, 2) == 1 ? 65536 : be(16, 2);
  // The page count is only kept up to date if both counters of changes agree.
  return be(24, 4) == be(92, 4) && be(28, 4) * page > static_cast<std::uint64_t>(size);
}

}  // namespace

Result<bool> NsysQuery::step() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW && rows_left_ == 0) {
    return Error{ErrorCode::kCorrupt,
                 "its SQLite data is damaged: a table has more rows than the file has bytes", ""};
  }
  if (code == SQLITE_ROW) {
    --rows_left_;
    return true;
  }
  if (code == SQLITE_DONE) return false;
  return sqlite_error(code, sqlite3_db_handle(statement_.get()));
}

std::string_view NsysQuery::text(int i) const {
  const auto* data = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), i));
  if (data == nullptr) return {};
  return {data, static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), i))};
}

std::string_view NsysQuery::bytes(int i) const {
  const auto* data = static_cast<const char*>(sqlite3_column_blob(statement_.get(), i));
  if (data == nullptr) return {};
  return {data, static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), i))};
}

void NsysQuery::append_json(int i, std::string& out) const {
  switch (sqlite3_column_type(statement_.get(), i)) {
    case SQLITE_INTEGER:
      out += std::to_string(integer(i));
      return;
    case SQLITE_FLOAT: {
      const double value = sqlite3_column_double(statement_.get(), i);
      char number[40];
      std::snprintf(number, sizeof number, "%.17g", value);
      std::isfinite(value) ? static_cast<void>(out += number) : append_quoted(number, out);
      return;
    }
    case SQLITE_NULL:
      out += "null";
      return;
    default:
      append_quoted(text(i), out);
  }
}

Result<NsysDatabase> NsysDatabase::open(const std::string& path, const std::atomic<bool>* stop) {
  NsysDatabase database;
  sqlite3* raw = nullptr;
  const int code = sqlite3_open_v2(read_only_uri(path).c_str(), &raw,
                                   SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, nullptr);
  database.db_.reset(raw);
  if (code != SQLITE_OK) return sqlite_error(code, raw);
  database.defend(stop);
  std::error_code error;
  database.file_bytes_ = std::filesystem::file_size(path, error);
  if (error) database.file_bytes_ = 0;
  database.short_ = file_is_short(path);
  TELLER_CHECK_OK(database.load_tables());
  const bool known = database.has_table("StringIds") || database.has_table("META_DATA_EXPORT") ||
                     database.has_table("TARGET_INFO_SESSION_START_TIME");
  if (!known) {
    return unknown_trace_error("its SQLite tables are not those of Nsight Systems");
  }
  if (Status status = database.load_strings(); !status) {
    const bool damaged = status.error().code == ErrorCode::kCorrupt;
    if (!damaged || !database.short_) return status.error();
  }
  return database;
}

// The schema is SQL text that came with the file. What the list of tables leaves out can't be
// reached by a schema that lies about its types either.
void NsysDatabase::defend(const std::atomic<bool>* stop) {
  sqlite3* db = db_.get();
  for (int option : {SQLITE_DBCONFIG_ENABLE_VIEW, SQLITE_DBCONFIG_ENABLE_TRIGGER,
                     SQLITE_DBCONFIG_TRUSTED_SCHEMA, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION}) {
    sqlite3_db_config(db, option, 0, nullptr);
  }
  sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_drop_modules(db, nullptr);  // virtual tables
  sqlite3_limit(db, SQLITE_LIMIT_LENGTH, kValueBytes);
  sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
  sqlite3_limit(db, SQLITE_LIMIT_TRIGGER_DEPTH, 0);
  sqlite3_limit(db, SQLITE_LIMIT_WORKER_THREADS, 0);
  if (stop != nullptr) {
    sqlite3_progress_handler(db, kStopSteps, stop_asked, const_cast<std::atomic<bool>*>(stop));
  }
}

// Whether it has a column that an expression in the schema computes at each read.
bool NsysDatabase::computes(const std::string& table) const {
  constexpr int kHidden = 6;
  constexpr int kVirtualColumn = 2;
  auto columns = query("PRAGMA table_xinfo(" + quoted_name(table) + ")");
  if (!columns) return false;
  for (auto more = columns->step(); more && *more; more = columns->step()) {
    if (columns->number(kHidden) == kVirtualColumn) return true;
  }
  return false;
}

// Virtual tables have no pages of their own.
Status NsysDatabase::load_tables() {
  TELLER_TRY(NsysQuery found,
             query("SELECT name, type = 'table' AND rootpage > 0 FROM sqlite_master "
                   "WHERE type IN ('table', 'view') ORDER BY name"));
  while (true) {
    TELLER_TRY(const bool row, found.step());
    if (!row) return {};
    if (found.number(1) == 1 && !computes(std::string(found.text(0)))) {
      tables_.emplace_back(found.text(0));
    } else {
      ++views_;
    }
  }
}

Status NsysDatabase::load_strings() {
  if (!has_table("StringIds")) return {};
  TELLER_TRY(NsysQuery found, query("SELECT id, value FROM StringIds"));
  std::uint64_t bytes = 0;
  while (true) {
    TELLER_TRY(const bool row, found.step());
    if (!row) return {};
    if (!found.is_integer(0) || !found.is_text(1)) continue;
    const std::string_view text = found.text(1);
    bytes += text.size();
    // Damage can make many rows share one text. UTF-16 in the file grows by half at most.
    if (bytes > 2 * file_bytes_) {
      return Error{ErrorCode::kCorrupt,
                   "its SQLite data is damaged: its texts are longer than the file", ""};
    }
    strings_.emplace(found.integer(0), text);
  }
}

bool NsysDatabase::has_table(std::string_view name) const {
  return std::binary_search(tables_.begin(), tables_.end(), name);
}

Result<NsysQuery> NsysDatabase::query(const std::string& sql) const {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v2(db_.get(), sql.c_str(), -1, &statement, nullptr);
  if (code != SQLITE_OK) return sqlite_error(code, db_.get());
  NsysQuery result;
  result.statement_.reset(statement);
  result.rows_left_ = file_bytes_;
  return result;
}

Result<NsysQuery> NsysDatabase::rows(const std::string& table) const {
  return query("SELECT * FROM " + quoted_name(table));
}

Result<std::uint64_t> NsysDatabase::count(const std::string& table) const {
  // Not count(*): in it SQLite does not look at the stop flag, and damage can make it endless.
  TELLER_TRY(NsysQuery rows, query("SELECT 1 FROM " + quoted_name(table)));
  for (std::uint64_t count = 0;; ++count) {
    TELLER_TRY(const bool more, rows.step());
    if (!more) return count;
  }
}

std::string_view NsysDatabase::string(std::int64_t id) const {
  const auto found = strings_.find(id);
  return found == strings_.end() ? std::string_view{} : std::string_view(found->second);
}

}  // namespace teller
