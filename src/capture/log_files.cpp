#include "capture/log_files.h"

#include <glob.h>
#include <sys/stat.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace teller::capture {

namespace {

// How often patterns are looked at for new files.
constexpr std::int64_t kLookPeriodNs = 250'000'000;

// A name with such characters is a pattern, unless a file is really called so.
bool is_pattern(const std::string& path) {
  struct stat info {};
  return path.find_first_of("*?[") != std::string::npos && stat(path.c_str(), &info) != 0;
}

std::vector<std::string> matches(const std::string& pattern) {
  glob_t found{};
  std::vector<std::string> paths;
  if (glob(pattern.c_str(), GLOB_NOESCAPE, nullptr, &found) == 0) {
    paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  }
  globfree(&found);
  return paths;
}

}  // namespace

Status check_log_files(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    const std::string why = is_pattern(path) ? "" : cannot_follow(path);
    if (why.empty()) continue;
    return Error{ErrorCode::kUnsupported, "following the log file " + path + ": " + why,
                 "give a regular file, or a pattern such as 'logs/*.log'"};
  }
  return {};
}

LogFiles::LogFiles(const std::vector<std::string>& paths, const Redactor* redactor)
    : redactor_(redactor) {
  for (const std::string& path : paths) {
    if (is_pattern(path)) {
      patterns_.push_back(path);
    } else {
      files_.push_back(std::make_unique<LogFollower>(path, redactor_, false));
    }
  }
  look_for_new(false);
}

bool LogFiles::is_known(const std::string& path) const {
  struct stat info {};
  // What cannot be followed is looked at again later; it may become a file.
  if (stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return true;
  // A rotated file has a new name that the pattern may match too.
  return std::any_of(files_.begin(), files_.end(), [&](const auto& file) {
    return file->path() == path || file->knows(info.st_dev, info.st_ino);
  });
}

void LogFiles::look_for_new(bool from_start) {
  for (const std::string& pattern : patterns_) {
    for (const std::string& path : matches(pattern)) {
      if (is_known(path)) continue;
      if (files_.size() >= kMaxFiles) {
        const bool told = std::find(left_out_.begin(), left_out_.end(), path) != left_out_.end();
        if (!told && left_out_.size() < kMaxFiles) left_out_.push_back(path);
        continue;
      }
      files_.push_back(std::make_unique<LogFollower>(path, redactor_, from_start));
      files_.back()->set_pid(pid_);
    }
  }
}

void LogFiles::set_pid(std::int64_t pid) {
  pid_ = pid;
  for (const auto& file : files_) file->set_pid(pid);
}

void LogFiles::collect(std::int64_t now_ns, std::string& out) {
  // Known files first: their rotated ones are then known by what they are, not by their new names.
  for (const auto& file : files_) file->collect(now_ns, out);
  if (patterns_.empty() || now_ns < next_look_ns_) return;
  next_look_ns_ = now_ns + kLookPeriodNs;
  const std::size_t before = files_.size();
  look_for_new(true);
  for (std::size_t i = before; i < files_.size(); ++i) files_[i]->collect(now_ns, out);
}

void LogFiles::finish(std::string& out) {
  next_look_ns_ = 0;
  for (const auto& file : files_) file->finish(out);
}

std::uint64_t LogFiles::lines() const {
  std::uint64_t count = 0;
  for (const auto& file : files_) count += file->lines();
  return count;
}

RedactCounts LogFiles::redacted() const {
  RedactCounts counts;
  for (const auto& file : files_) counts.add(file->redacted());
  return counts;
}

nlohmann::ordered_json LogFiles::describe() const {
  auto list = nlohmann::ordered_json::array();
  for (const auto& file : files_) {
    const FollowedCounts& counts = file->counts();
    nlohmann::ordered_json entry = {{"path", file->path()},
                                    {"lines", file->lines()},
                                    {"bytes", counts.bytes},
                                    {"rotations", counts.rotations},
                                    {"truncations", counts.truncations}};
    if (!counts.problem.empty()) entry["problem"] = counts.problem;
    list.push_back(std::move(entry));
  }
  for (const std::string& path : left_out_) {
    list.push_back({{"path", path}, {"problem", "more files than teller follows"}});
  }
  return list;
}

}  // namespace teller::capture
