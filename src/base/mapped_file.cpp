#include "base/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/file.h"

namespace teller {

namespace {

Error not_regular(const std::string& what, mode_t mode) {
  const char* is = S_ISDIR(mode) ? "is a folder" : "is not a regular file";
  return {ErrorCode::kUsage, what + ": it " + is, "give the path of a file"};
}

}  // namespace

Result<MappedFile> MappedFile::open(const std::string& path, std::string_view what) {
  const std::string action = "reading " + std::string(what) + " " + path;
  // O_NONBLOCK: opening a FIFO must not wait for a writer.
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return errno_error(action, errno);
  struct stat info {};
  if (fstat(fd, &info) != 0) {
    const int number = errno;
    close(fd);
    return errno_error(action, number);
  }
  if (!S_ISREG(info.st_mode)) {
    close(fd);
    return not_regular(action, info.st_mode);
  }
  MappedFile map;
  map.size_ = static_cast<std::size_t>(info.st_size);
  if (map.size_ > 0) {
    void* data = mmap(nullptr, map.size_, PROT_READ, MAP_PRIVATE, fd, 0);
    const int number = errno;
    if (data == MAP_FAILED) {
      close(fd);
      map.size_ = 0;
      return errno_error(action, number);
    }
    map.data_ = static_cast<const char*>(data);
  }
  close(fd);
  return map;
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) munmap(const_cast<char*>(data_), size_);
}

}  // namespace teller
