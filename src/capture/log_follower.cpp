#include "capture/log_follower.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utility>

namespace teller::capture {

namespace {

constexpr std::size_t kReadBytes = 64 << 10;
constexpr int kReadsPerCall = 64;

}  // namespace

LogFollower::LogFollower(std::string path) : path_(std::move(path)) {
  struct stat info {};
  if (open_file() && fstat(fd_, &info) == 0) offset_ = info.st_size;
}

LogFollower::~LogFollower() {
  if (fd_ >= 0) close(fd_);
}

LogFollower::LogFollower(LogFollower&& other) noexcept
    : path_(std::move(other.path_)),
      fd_(std::exchange(other.fd_, -1)),
      offset_(other.offset_),
      device_(other.device_),
      inode_(other.inode_) {}

bool LogFollower::open_file() {
  // Non-blocking, and regular files only: opening a FIFO must not wait for its writer.
  const int fd = open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  struct stat info {};
  if (fd < 0) return false;
  if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    close(fd);
    return false;
  }
  if (fd_ >= 0) close(fd_);
  fd_ = fd;
  offset_ = 0;
  device_ = info.st_dev;
  inode_ = info.st_ino;
  return true;
}

bool LogFollower::replaced() const {
  struct stat info {};
  if (stat(path_.c_str(), &info) != 0) return false;
  return info.st_dev != device_ || info.st_ino != inode_;
}

void LogFollower::read_open_file(std::string& bytes) {
  struct stat info {};
  if (fstat(fd_, &info) == 0 && info.st_size < offset_) offset_ = 0;  // truncated
  char buffer[kReadBytes];
  for (int i = 0; i < kReadsPerCall; ++i) {
    const ssize_t count = pread(fd_, buffer, sizeof buffer, offset_);
    if (count <= 0) return;
    bytes.append(buffer, static_cast<std::size_t>(count));
    offset_ += count;
  }
}

void LogFollower::read(std::string& bytes) {
  if (fd_ < 0 && !open_file()) return;
  read_open_file(bytes);
  // The old file is read to its end before the new one is opened.
  if (replaced() && open_file()) read_open_file(bytes);
}

}  // namespace teller::capture
