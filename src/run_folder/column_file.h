// Writes and reads column files (*.tcol): named tables of fixed-size columns, memory-mapped.
// Layout: docs/run_folder.md.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/mapped_file.h"
#include "teller/result.h"

namespace teller {

struct ColumnFileHeader {
  char magic[8];  // "\x89TLRCO\r\n"
  std::uint16_t major = 1;
  std::uint16_t minor = 0;
  std::uint32_t columns = 0;
  std::uint64_t directory_offset = 0;
  std::uint64_t directory_check = 0;  // XXH3-64 of the directory
};
static_assert(sizeof(ColumnFileHeader) == 32);

struct ColumnEntry {
  char table[24];  // NUL-padded
  char name[24];   // NUL-padded
  std::uint32_t element_bytes = 0;
  std::uint32_t reserved = 0;
  std::uint64_t count = 0;
  std::uint64_t offset = 0;  // multiple of 64
  std::uint64_t check = 0;   // XXH3-64 of the column's bytes
};
static_assert(sizeof(ColumnEntry) == 80);

// Writes columns one after the other to part_of(PATH) and publishes PATH on finish().
class ColumnFileWriter {
 public:
  static Result<ColumnFileWriter> create(const std::string& path);
  ColumnFileWriter(ColumnFileWriter&& other) noexcept;
  ColumnFileWriter& operator=(ColumnFileWriter&& other) noexcept;
  ~ColumnFileWriter();  // without finish(): the .part file is removed

  template <typename T>
  Status add(std::string_view table, std::string_view name, std::span<const T> column) {
    static_assert(std::is_trivially_copyable_v<T>);
    return add_bytes(table, name, sizeof(T), column.data(), column.size());
  }
  Status finish();

 private:
  ColumnFileWriter() = default;
  Status add_bytes(std::string_view table, std::string_view name, std::size_t element_bytes,
                   const void* data, std::size_t count);
  Status write_at_end(const void* data, std::size_t size);
  Status pad_to_column();

  std::string path_;
  int fd_ = -1;
  std::uint64_t offset_ = 0;
  std::vector<ColumnEntry> entries_;
};

// A memory-mapped column file. Spans stay valid as long as the object lives (moves included).
class ColumnFile {
 public:
  ColumnFile() = default;  // holds nothing
  // Maps `path` and checks header, directory and every column's bounds and checksum.
  static Result<ColumnFile> open(const std::string& path);

  // The column `table`.`name`; an Error if it is missing or has another element size.
  template <typename T>
  Result<std::span<const T>> column(std::string_view table, std::string_view name) const {
    static_assert(std::is_trivially_copyable_v<T>);
    TELLER_TRY(const ColumnEntry* entry, find(table, name, sizeof(T)));
    return std::span<const T>(reinterpret_cast<const T*>(map_.data() + entry->offset),
                              entry->count);
  }
  bool has(std::string_view table, std::string_view name) const;
  const std::vector<ColumnEntry>& entries() const { return entries_; }
  const std::string& path() const { return path_; }

 private:
  Result<const ColumnEntry*> find(std::string_view table, std::string_view name,
                                  std::size_t element_bytes) const;
  Status read_directory();
  Error corrupt(const std::string& why) const;

  std::string path_;
  MappedFile map_;
  std::vector<ColumnEntry> entries_;
};

// A NUL-padded name of a ColumnEntry as text.
std::string_view column_text(const char (&field)[24]);

}  // namespace teller
