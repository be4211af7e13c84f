// Follows a growing file, as tail -F does: created later, truncated, or replaced by a new one.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace teller::capture {

class LogFollower {
 public:
  // What the file holds now is not ours: following starts at its end. A file that appears later is
  // read from its start.
  explicit LogFollower(std::string path);
  ~LogFollower();
  LogFollower(LogFollower&& other) noexcept;
  LogFollower& operator=(LogFollower&&) = delete;

  // Appends what has been added since the last call, at most some MiB.
  void read(std::string& bytes);
  const std::string& path() const { return path_; }

 private:
  bool open_file();
  void read_open_file(std::string& bytes);
  bool replaced() const;

  std::string path_;
  int fd_ = -1;
  std::int64_t offset_ = 0;
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

}  // namespace teller::capture
