// The files that --log names: single ones, and patterns whose new files are picked up.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "capture/log_follower.h"
#include "teller/result.h"

namespace teller::capture {

class LogFiles {
 public:
  // More files of patterns than this are counted, not followed.
  static constexpr std::size_t kMaxFiles = 256;

  // `paths` are absolute. What is there now is left out; what comes is followed.
  LogFiles(const std::vector<std::string>& paths, const Redactor* redactor);

  void set_pid(std::int64_t pid);
  void collect(std::int64_t now_ns, std::string& out);
  void finish(std::string& out);
  std::uint64_t lines() const;
  RedactCounts redacted() const;
  // One object per file, for the manifest.
  nlohmann::ordered_json describe() const;

 private:
  void look_for_new(bool from_start);
  bool is_known(const std::string& path) const;

  const Redactor* redactor_;
  std::vector<std::string> patterns_;
  std::vector<std::unique_ptr<LogFollower>> files_;
  std::int64_t next_look_ns_ = 0;
  std::int64_t pid_ = 0;
  std::vector<std::string> left_out_;  // files beyond the limit
};

// An error if a path that is there is of a kind that cannot be followed. A file that is missing is
// none: it may come.
Status check_log_files(const std::vector<std::string>& paths);

}  // namespace teller::capture
