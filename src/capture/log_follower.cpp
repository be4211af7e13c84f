#include "capture/log_follower.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace teller::capture {

namespace {

constexpr std::size_t kReadBytes = 64 << 10;
constexpr int kReadsPerCall = 64;
// A file that was renamed away is read on until nothing has come for so long: its writer may not
// have opened the new one yet.
constexpr std::int64_t kOldFileIdleNs = 10'000'000'000;
constexpr std::size_t kMaxOldFiles = 8;
constexpr std::size_t kMaxKnown = 64;

std::string why_not_regular(mode_t mode) {
  if (S_ISDIR(mode)) return "it is a folder";
  if (S_ISFIFO(mode)) return "it is a FIFO: reading it would take the lines from its reader";
  if (S_ISSOCK(mode)) return "it is a socket";
  return S_ISREG(mode) ? "" : "it is a device";
}

}  // namespace

std::string cannot_follow(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) return errno == ENOENT ? "" : std::strerror(errno);
  if (std::string why = why_not_regular(info.st_mode); !why.empty()) return why;
  return access(path.c_str(), R_OK) == 0 ? "" : std::strerror(errno);
}

LogFollower::LogFollower(std::string path, const Redactor* redactor, bool from_start)
    : path_(std::move(path)), redactor_(redactor) {
  struct stat info {};
  if (open_file(0) && !from_start && fstat(files_.back().fd, &info) == 0) {
    files_.back().offset = info.st_size;
  }
}

LogFollower::~LogFollower() {
  for (const File& file : files_) close(file.fd);
}

void LogFollower::set_pid(std::int64_t pid) {
  pid_ = pid;
  for (File& file : files_) file.lines->set_pid(pid);
}

std::uint64_t LogFollower::lines() const {
  std::uint64_t count = lines_of_dropped_;
  for (const File& file : files_) count += file.lines->lines();
  return count;
}

RedactCounts LogFollower::redacted() const {
  RedactCounts counts = redacted_of_dropped_;
  for (const File& file : files_) counts.add(file.lines->redacted());
  return counts;
}

bool LogFollower::knows(dev_t device, ino_t inode) const {
  return std::any_of(known_.begin(), known_.end(), [&](const Identity& known) {
    return known.device == device && known.inode == inode;
  });
}

bool LogFollower::open_file(std::int64_t now_ns) {
  // Non-blocking, and regular files only: opening a FIFO must not wait for its writer.
  const int fd = open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  struct stat info {};
  if (fd < 0) {
    if (errno != ENOENT) counts_.problem = std::strerror(errno);
    return false;
  }
  if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    counts_.problem = why_not_regular(info.st_mode);
    close(fd);
    return false;
  }
  counts_.problem.clear();
  File file;
  file.fd = fd;
  file.device = info.st_dev;
  file.inode = info.st_ino;
  file.last_read_ns = now_ns;
  file.lines = std::make_unique<LogLines>(path_, pid_, redactor_);
  files_.push_back(std::move(file));
  if (known_.size() == kMaxKnown) known_.erase(known_.begin());
  known_.push_back({info.st_dev, info.st_ino});
  return true;
}

bool LogFollower::replaced() const {
  struct stat info {};
  if (stat(path_.c_str(), &info) != 0) return false;
  return info.st_dev != files_.back().device || info.st_ino != files_.back().inode;
}

void LogFollower::read_file(File& file, std::int64_t now_ns, std::string& out) {
  struct stat info {};
  if (fstat(file.fd, &info) == 0 && info.st_size < file.offset) {
    file.offset = 0;
    ++counts_.truncations;
    file.lines->finish(out);  // what comes now need not go on with it
  }
  // A writer that goes on where it was leaves a hole in a file that was truncated.
  const off_t data = lseek(file.fd, file.offset, SEEK_DATA);
  if (data > file.offset) file.offset = data;
  char buffer[kReadBytes];
  for (int i = 0; i < kReadsPerCall; ++i) {
    const ssize_t count = pread(file.fd, buffer, sizeof buffer, file.offset);
    if (count <= 0) return;
    file.lines->add(now_ns, {buffer, static_cast<std::size_t>(count)}, out);
    file.offset += count;
    file.last_read_ns = now_ns;
    counts_.bytes += static_cast<std::uint64_t>(count);
  }
}

void LogFollower::drop_first(std::string& out) {
  File& file = files_.front();
  file.lines->finish(out);
  lines_of_dropped_ += file.lines->lines();
  redacted_of_dropped_.add(file.lines->redacted());
  close(file.fd);
  files_.erase(files_.begin());
}

void LogFollower::collect(std::int64_t now_ns, std::string& out) {
  if (files_.empty() && !open_file(now_ns)) return;
  for (File& file : files_) read_file(file, now_ns, out);
  // The old file was read to its end before the new one is opened.
  if (replaced() && open_file(now_ns)) {
    ++counts_.rotations;
    read_file(files_.back(), now_ns, out);
  }
  while (files_.size() > 1 &&
         (files_.size() > kMaxOldFiles || now_ns - files_.front().last_read_ns > kOldFileIdleNs)) {
    drop_first(out);
  }
}

void LogFollower::finish(std::string& out) {
  for (File& file : files_) file.lines->finish(out);
}

}  // namespace teller::capture
