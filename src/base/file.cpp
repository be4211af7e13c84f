#include "base/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/mapped_file.h"
#include "base/part_files.h"
#include "base/sha256.h"
#include "base/xxh128.h"

namespace teller {

namespace {

// Read and digested at a time: still near the processor.
constexpr std::size_t kDigestPiece = 256u << 10;
constexpr const char* kPartEnding = ".part";

// Closes a file descriptor when it goes out of scope.
struct Descriptor {
  int fd = -1;
  explicit Descriptor(int value) : fd(value) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd >= 0) close(fd);
  }
};

ErrorCode code_for(int number) {
  switch (number) {
    case ENOENT:
    case ENOTDIR:
      return ErrorCode::kNotFound;
    case EACCES:
    case EPERM:
    case EROFS:
      return ErrorCode::kPermission;
    case EISDIR:
      return ErrorCode::kUsage;
    default:
      return ErrorCode::kIo;
  }
}

std::string hint_for(int number) {
  switch (number) {
    case ENOSPC:
    case EDQUOT:
      return "free some space or choose another place with -o";
    case EACCES:
    case EPERM:
      return "check the permissions, or choose another place";
    case EROFS:
      return "the file system is read-only; choose another place";
    default:
      return "";
  }
}

Status write_all(int fd, std::string_view content, const std::string& path) {
  while (!content.empty()) {
    const ssize_t done = write(fd, content.data(), content.size());
    if (done < 0) {
      if (errno == EINTR) continue;
      return errno_error("writing " + path, errno);
    }
    content.remove_prefix(static_cast<std::size_t>(done));
  }
  return {};
}

Status write_part(const std::string& part, std::string_view content) {
  TELLER_TRY(const int fd, create_fresh(part));
  const Descriptor out(fd);
  TELLER_CHECK_OK(write_all(out.fd, content, part));
  if (fsync(out.fd) != 0 && errno != EINVAL) return errno_error("writing " + part, errno);
  return {};
}

}  // namespace

Error errno_error(std::string what, int number) {
  return {code_for(number), std::move(what) + ": " + std::strerror(number), hint_for(number)};
}

Result<int> create_fresh(const std::string& path) {
  unlink(path.c_str());
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
  if (fd < 0) return errno_error("creating " + path, errno);
  if (path.ends_with(kPartEnding)) note_part_file(path);
  return fd;
}

std::string part_of(const std::string& path) {
  return path + "." + std::to_string(getpid()) + kPartEnding;
}

Result<std::string> read_file(const std::string& path, std::string_view what,
                              std::uint64_t limit_bytes) {
  TELLER_TRY(MappedFile map, MappedFile::open(path, what));
  if (map.size() > limit_bytes) {
    return Error{ErrorCode::kCorrupt,
                 "reading " + std::string(what) + " " + path + ": it has " +
                     std::to_string(map.size()) + " bytes, more than the " +
                     std::to_string(limit_bytes) + " allowed",
                 ""};
  }
  return std::string(map.text());
}

Status write_file_atomic(const std::string& path, std::string_view content) {
  const std::string part = part_of(path);
  if (Status status = write_part(part, content); !status) {
    unlink(part.c_str());
    return status;
  }
  if (rename(part.c_str(), path.c_str()) != 0) {
    const int number = errno;
    unlink(part.c_str());
    return errno_error("renaming " + part + " to " + path, number);
  }
  return {};
}

namespace {

// Has `digest` read a file. The map says in one line what is no file. It is read in pieces, not
// through the map: a run of gigabytes would be counted as memory of the recorder.
template <typename Digest>
Result<std::string> digest_file(Digest digest, const std::string& path) {
  TELLER_TRY(const MappedFile checked, MappedFile::open(path, "file"));
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return errno_error("reading " + path, errno);
  std::string piece(kDigestPiece, '\0');
  ssize_t count = 0;
  while ((count = read(fd, piece.data(), piece.size())) > 0 || (count < 0 && errno == EINTR)) {
    if (count > 0)
      digest.update(std::string_view(piece).substr(0, static_cast<std::size_t>(count)));
  }
  const int error = errno;
  close(fd);
  if (count < 0) return errno_error("reading " + path, error);
  return digest.hex();
}

template <typename Digest>
std::string digest_text(Digest digest, std::string_view text) {
  digest.update(text);
  return digest.hex();
}

}  // namespace

Result<std::string> sha256_file(const std::string& path) {
  return digest_file(Sha256{}, path);
}
std::string sha256_text(std::string_view text) {
  return digest_text(Sha256{}, text);
}

Result<std::string> xxh128_file(const std::string& path) {
  return digest_file(Xxh128{}, path);
}
std::string xxh128_text(std::string_view text) {
  return digest_text(Xxh128{}, text);
}

Result<std::uint64_t> file_size(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) return errno_error("reading " + path, errno);
  return static_cast<std::uint64_t>(info.st_size);
}

}  // namespace teller
