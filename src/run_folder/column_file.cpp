#include "run_folder/column_file.h"

#include <fcntl.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "base/file.h"

namespace teller {

namespace {

constexpr char kMagic[8] = {'\x89', 'T', 'L', 'R', 'C', 'O', '\r', '\n'};
constexpr std::uint64_t kColumnAlignment = 64;
constexpr std::uint32_t kMaxColumns = 4096;

bool put_name(char (&field)[24], std::string_view name) {
  if (name.empty() || name.size() >= sizeof field) return false;
  std::memset(field, 0, sizeof field);
  std::memcpy(field, name.data(), name.size());
  return true;
}

}  // namespace

std::string_view column_text(const char (&field)[24]) {
  return {field, strnlen(field, sizeof field)};
}

Result<ColumnFileWriter> ColumnFileWriter::create(const std::string& path) {
  ColumnFileWriter writer;
  writer.path_ = path;
  TELLER_TRY(writer.fd_, create_fresh(part_of(path)));
  const ColumnFileHeader header{};  // the real one is written last
  TELLER_CHECK_OK(writer.write_at_end(&header, sizeof header));
  return writer;
}

ColumnFileWriter::ColumnFileWriter(ColumnFileWriter&& other) noexcept {
  *this = std::move(other);
}

ColumnFileWriter& ColumnFileWriter::operator=(ColumnFileWriter&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(fd_, other.fd_);
  std::swap(offset_, other.offset_);
  std::swap(entries_, other.entries_);
  return *this;
}

ColumnFileWriter::~ColumnFileWriter() {
  if (fd_ < 0) return;
  close(fd_);
  unlink(part_of(path_).c_str());
}

Status ColumnFileWriter::add_bytes(std::string_view table, std::string_view name,
                                   std::size_t element_bytes, const void* data, std::size_t count) {
  ColumnEntry entry{};
  if (!put_name(entry.table, table) || !put_name(entry.name, name)) {
    return Error{ErrorCode::kInternal,
                 "writing " + path_ + ": bad column name " + std::string(name), ""};
  }
  TELLER_CHECK_OK(pad_to_column());
  entry.element_bytes = static_cast<std::uint32_t>(element_bytes);
  entry.count = count;
  entry.offset = offset_;
  entry.check = XXH3_64bits(data, element_bytes * count);
  TELLER_CHECK_OK(write_at_end(data, element_bytes * count));
  entries_.push_back(entry);
  return {};
}

Status ColumnFileWriter::pad_to_column() {
  constexpr char kZeros[kColumnAlignment] = {};
  const std::uint64_t rest = offset_ % kColumnAlignment;
  return rest == 0 ? Status{} : write_at_end(kZeros, kColumnAlignment - rest);
}

Status ColumnFileWriter::finish() {
  TELLER_CHECK_OK(pad_to_column());
  ColumnFileHeader header{};
  std::memcpy(header.magic, kMagic, sizeof header.magic);
  header.columns = static_cast<std::uint32_t>(entries_.size());
  header.directory_offset = offset_;
  header.directory_check = XXH3_64bits(entries_.data(), entries_.size() * sizeof(ColumnEntry));
  TELLER_CHECK_OK(write_at_end(entries_.data(), entries_.size() * sizeof(ColumnEntry)));
  if (pwrite(fd_, &header, sizeof header, 0) != sizeof header) {
    return errno_error("writing " + path_, errno);
  }
  if (fsync(fd_) != 0 && errno != EINVAL) return errno_error("writing " + path_, errno);
  const int fd = std::exchange(fd_, -1);
  const bool closed = close(fd) == 0;
  if (!closed || rename(part_of(path_).c_str(), path_.c_str()) != 0) {
    const int number = errno;
    unlink(part_of(path_).c_str());
    return errno_error("writing " + path_, number);
  }
  return {};
}

Status ColumnFileWriter::write_at_end(const void* data, std::size_t size) {
  const char* at = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t done = write(fd_, at, size);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return errno_error("writing " + path_, errno);
    at += done;
    size -= static_cast<std::size_t>(done);
    offset_ += static_cast<std::uint64_t>(done);
  }
  return {};
}

Result<ColumnFile> ColumnFile::open(const std::string& path) {
  ColumnFile file;
  file.path_ = path;
  TELLER_TRY(file.map_, MappedFile::open(path, "column file"));
  TELLER_CHECK_OK(file.read_directory());
  return file;
}

Error ColumnFile::corrupt(const std::string& why) const {
  return {ErrorCode::kCorrupt, "reading " + path_ + ": " + why,
          "make it again with the command that wrote it"};
}

Status ColumnFile::read_directory() {
  const std::uint64_t size = map_.size();
  ColumnFileHeader header{};
  if (size < sizeof header || std::memcmp(map_.data(), kMagic, sizeof kMagic) != 0) {
    return corrupt(size == 0 ? "it is empty" : "it is not a column file of teller");
  }
  std::memcpy(&header, map_.data(), sizeof header);
  if (header.major != 1) {
    return Error{ErrorCode::kUnsupported,
                 "reading " + path_ + ": it has version " + std::to_string(header.major) +
                     ", this teller reads version 1",
                 "use the teller that wrote it, or a newer one"};
  }
  const std::uint64_t bytes = std::uint64_t{header.columns} * sizeof(ColumnEntry);
  if (header.columns > kMaxColumns || header.directory_offset > size ||
      size - header.directory_offset != bytes) {
    return corrupt("it is truncated");
  }
  const char* directory = map_.data() + header.directory_offset;
  if (XXH3_64bits(directory, bytes) != header.directory_check) {
    return corrupt("its directory is damaged");
  }
  entries_.resize(header.columns);
  if (bytes > 0) std::memcpy(entries_.data(), directory, bytes);
  for (const ColumnEntry& entry : entries_) {
    const std::string name =
        std::string(column_text(entry.table)) + "." + std::string(column_text(entry.name));
    const std::uint64_t limit = header.directory_offset;
    const bool fits = entry.element_bytes > 0 && entry.offset <= limit &&
                      entry.offset % kColumnAlignment == 0 &&
                      entry.count <= (limit - entry.offset) / entry.element_bytes;
    if (!fits) return corrupt("column " + name + " lies outside the file");
    if (XXH3_64bits(map_.data() + entry.offset, entry.count * entry.element_bytes) != entry.check) {
      return corrupt("column " + name + " is damaged");
    }
  }
  return {};
}

bool ColumnFile::has(std::string_view table, std::string_view name) const {
  return std::any_of(entries_.begin(), entries_.end(), [&](const ColumnEntry& entry) {
    return column_text(entry.table) == table && column_text(entry.name) == name;
  });
}

Result<const ColumnEntry*> ColumnFile::find(std::string_view table, std::string_view name,
                                            std::size_t element_bytes) const {
  for (const ColumnEntry& entry : entries_) {
    if (column_text(entry.table) != table || column_text(entry.name) != name) continue;
    if (entry.element_bytes == element_bytes) return &entry;
    return corrupt("column " + std::string(table) + "." + std::string(name) +
                   " has an unexpected element size");
  }
  return corrupt("column " + std::string(table) + "." + std::string(name) + " is missing");
}

}  // namespace teller
