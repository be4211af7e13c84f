// A read-only SQLite file of Nsight Systems: its tables, columns, rows and string table. The file
// may be anybody's: no SQL in it runs (views, triggers, computed columns), and what it holds is
// bounded by its size.
#pragma once

#include <sqlite3.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "teller/result.h"

namespace teller {

// Runs one SELECT. Values are read by column index after step() answered true. SQLite makes a value
// of any type into what is asked for: ask for its type first.
class NsysQuery {
 public:
  // False at the end. An error of kind kCorrupt means that the file is damaged there, kInterrupted
  // that the user asked to stop.
  Result<bool> step();
  int columns() const { return sqlite3_column_count(statement_.get()); }
  std::string_view column_name(int i) const { return sqlite3_column_name(statement_.get(), i); }
  bool is_null(int i) const { return sqlite3_column_type(statement_.get(), i) == SQLITE_NULL; }
  bool is_integer(int i) const {
    return sqlite3_column_type(statement_.get(), i) == SQLITE_INTEGER;
  }
  bool is_blob(int i) const { return sqlite3_column_type(statement_.get(), i) == SQLITE_BLOB; }
  bool is_text(int i) const { return sqlite3_column_type(statement_.get(), i) == SQLITE_TEXT; }
  std::int64_t integer(int i) const { return sqlite3_column_int64(statement_.get(), i); }
  // Nothing unless the value is an integer.
  std::optional<std::int64_t> number(int i) const {
    return is_integer(i) ? std::optional(integer(i)) : std::nullopt;
  }
  std::string_view text(int i) const;
  // Of a blob, as they are.
  std::string_view bytes(int i) const;
  // Appends the value as JSON.
  void append_json(int i, std::string& out) const;

 private:
  friend class NsysDatabase;
  struct Finalise {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  std::unique_ptr<sqlite3_stmt, Finalise> statement_;
  std::uint64_t rows_left_ = 0;
};

class NsysDatabase {
 public:
  // Opens `path` so that nothing beside it is created or changed. Checks that it is an export of
  // Nsight Systems. When `stop` (may be null) is set, what runs and what is asked later fails.
  static Result<NsysDatabase> open(const std::string& path, const std::atomic<bool>* stop);

  // Tables, sorted by name, but for those in which SQL of the file runs: views, virtual tables and
  // tables with computed columns.
  const std::vector<std::string>& tables() const { return tables_; }
  bool has_table(std::string_view name) const;
  // How many those are; they are never read.
  std::uint64_t views() const { return views_; }
  Result<NsysQuery> query(const std::string& sql) const;
  // All columns of a table, in the order of its rows.
  Result<NsysQuery> rows(const std::string& table) const;
  Result<std::uint64_t> count(const std::string& table) const;
  // Text of StringIds; "" for an id that is not there.
  std::string_view string(std::int64_t id) const;
  // Set if the file is shorter than its header says.
  bool is_short() const { return short_; }

 private:
  struct Close {
    void operator()(sqlite3* db) const { sqlite3_close(db); }
  };
  void defend(const std::atomic<bool>* stop);
  Status load_tables();
  bool computes(const std::string& table) const;
  Status load_strings();

  std::unique_ptr<sqlite3, Close> db_;
  std::vector<std::string> tables_;
  std::unordered_map<std::int64_t, std::string> strings_;
  std::uint64_t views_ = 0;
  std::uint64_t file_bytes_ = 0;
  bool short_ = false;
};

}  // namespace teller
