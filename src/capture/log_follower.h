// Follows a growing file, as tail -F does: created later, truncated, or renamed and replaced.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "capture/log_lines.h"
#include "redact/redact.h"

namespace teller::capture {

// What became of one followed file, for the manifest.
struct FollowedCounts {
  std::uint64_t bytes = 0;
  std::uint64_t rotations = 0;    // another file stood at the path
  std::uint64_t truncations = 0;  // the file became shorter
  std::string problem;            // why it cannot be read; "" if nothing is known
};

class LogFollower {
 public:
  // `from_start`: what the file holds now belongs to the run; else following starts at its end. A
  // file that appears later is read from its start in any case.
  LogFollower(std::string path, const Redactor* redactor, bool from_start);
  ~LogFollower();
  LogFollower(const LogFollower&) = delete;
  LogFollower& operator=(const LogFollower&) = delete;

  void set_pid(std::int64_t pid);
  // Appends to `out` the lines that were completed since the last call; reads some MiB at most.
  void collect(std::int64_t now_ns, std::string& out);
  // Appends what is left as last lines.
  void finish(std::string& out);

  const std::string& path() const { return path_; }
  const FollowedCounts& counts() const { return counts_; }
  std::uint64_t lines() const;
  RedactCounts redacted() const;
  // True if it reads, or has read, this file: a rotated one has another name.
  bool knows(dev_t device, ino_t inode) const;

 private:
  struct File {
    int fd = -1;
    std::int64_t offset = 0;
    dev_t device = 0;
    ino_t inode = 0;
    std::int64_t last_read_ns = 0;
    std::unique_ptr<LogLines> lines;
  };
  struct Identity {
    dev_t device = 0;
    ino_t inode = 0;
  };

  bool open_file(std::int64_t now_ns);
  void read_file(File& file, std::int64_t now_ns, std::string& out);
  bool replaced() const;
  void drop_first(std::string& out);

  std::string path_;
  const Redactor* redactor_;
  std::int64_t pid_ = 0;
  std::vector<File> files_;  // the last one stands at the path; those before were renamed away
  std::vector<Identity> known_;
  FollowedCounts counts_;
  std::uint64_t lines_of_dropped_ = 0;
  RedactCounts redacted_of_dropped_;
};

// Why `path`, which is there, cannot be followed: a folder, a FIFO, a file that may not be read. ""
// if it can be.
std::string cannot_follow(const std::string& path);

}  // namespace teller::capture
