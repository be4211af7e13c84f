// Tables of columns in a column file, read and written through one list of columns: a struct has a
// visit_columns(self, visit) that calls visit(table, column name, column) for each of its columns.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "run_folder/column_file.h"

namespace teller {

// Adds every column of `tables` to `writer`.
template <typename Tables>
Status add_tables(ColumnFileWriter& writer, const Tables& tables) {
  Status status;
  visit_columns(tables, [&](const char* table, const char* name, const auto& column) {
    using T = typename std::decay_t<decltype(column)>::value_type;
    if (status) status = writer.template add<T>(table, name, column);
  });
  return status;
}

// Writes every column of `tables` to `path` (x.part, rename).
template <typename Tables>
Status write_tables(const std::string& path, const Tables& tables) {
  TELLER_TRY(ColumnFileWriter writer, ColumnFileWriter::create(path));
  TELLER_CHECK_OK(add_tables(writer, tables));
  return writer.finish();
}

// For tables without a column that may be missing.
inline bool none_is_optional(std::string_view, std::string_view) {
  return false;
}

// Points every column of `tables` (spans) into the mapped `file`; an Error if one is missing, or if
// columns of one table differ in length. `remedy` says what to do. A column for which
// is_optional(table, name) holds may be missing or empty.
template <typename Tables>
Status map_tables(const ColumnFile& file, Tables& tables, const char* remedy,
                  bool (*is_optional)(std::string_view, std::string_view) = none_is_optional) {
  Status status;
  std::string table_now;
  std::size_t length = 0;
  visit_columns(tables, [&](const char* table, const char* name, auto& column) {
    using T = std::remove_const_t<typename std::decay_t<decltype(column)>::element_type>;
    const bool optional = is_optional(table, name);
    if (!status || (optional && !file.has(table, name))) return;
    auto mapped = file.column<T>(table, name);
    if (!mapped) {
      status = mapped.error();
      return;
    }
    column = *mapped;
    if (table_now != table) length = column.size();
    table_now = table;
    if (column.size() != length && !(optional && column.empty())) {
      status = Error{ErrorCode::kCorrupt,
                     "reading " + file.path() + ": columns of table " + table + " differ in length",
                     remedy};
    }
  });
  return status;
}

}  // namespace teller
