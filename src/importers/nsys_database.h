// A read-only SQLite file of Nsight Systems: its tables, columns, rows and string table.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "teller/result.h"

namespace teller {

// Runs one SELECT. Values are read by column index after step() answered true.
class NsysQuery {
 public:
  // False at the end. An error of kind kCorrupt means that the file is damaged there.
  Result<bool> step();
  int columns() const { return sqlite3_column_count(statement_.get()); }
  std::string_view column_name(int i) const { return sqlite3_column_name(statement_.get(), i); }
  bool is_null(int i) const { return sqlite3_column_type(statement_.get(), i) == SQLITE_NULL; }
  bool is_integer(int i) const {
    return sqlite3_column_type(statement_.get(), i) == SQLITE_INTEGER;
  }
  std::int64_t integer(int i) const { return sqlite3_column_int64(statement_.get(), i); }
  std::string_view text(int i) const;
  // Appends the value as JSON.
  void append_json(int i, std::string& out) const;

 private:
  friend class NsysDatabase;
  struct Finalise {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  std::unique_ptr<sqlite3_stmt, Finalise> statement_;
};

class NsysDatabase {
 public:
  // Opens `path` so that nothing beside it is created or changed. Checks that it is an export of
  // Nsight Systems.
  static Result<NsysDatabase> open(const std::string& path);

  // Tables, sorted by name.
  const std::vector<std::string>& tables() const { return tables_; }
  bool has_table(std::string_view name) const;
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
  Status load_tables();
  Status load_strings();

  std::unique_ptr<sqlite3, Close> db_;
  std::vector<std::string> tables_;
  std::unordered_map<std::int64_t, std::string> strings_;
  bool short_ = false;
};

}  // namespace teller
