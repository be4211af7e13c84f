#include "run_folder/workplace.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <system_error>

#include "base/file.h"
#include "run_folder/run_folder.h"

namespace teller {

namespace fs = std::filesystem;

namespace {

constexpr const char* kMark = ".importing-";

// Without a slash at the end, links followed: the folder itself is moved, not the link.
std::string clean(const std::string& output) {
  std::error_code error;
  fs::path path = fs::weakly_canonical(output, error);
  if (error) path = output;
  if (path.filename().empty()) path = path.parent_path();
  return path.string();
}

// Whether nothing in a folder was written for an hour.
bool is_at_rest(const fs::path& folder) {
  std::error_code error;
  fs::file_time_type last = fs::last_write_time(folder, error);
  for (fs::recursive_directory_iterator it(folder, error), end; !error && it != end;
       it.increment(error)) {
    std::error_code unknown;
    const auto time = it->last_write_time(unknown);
    if (!unknown) last = std::max(last, time);
  }
  return !error && fs::file_time_type::clock::now() - last > std::chrono::hours(1);
}

}  // namespace

Status check_output(const std::string& path, bool overwrite,
                    const std::vector<std::string>& inputs) {
  TELLER_CHECK_OK(RunFolder::check_place(path, overwrite));
  std::error_code error;
  if (!fs::exists(path, error)) return {};
  const std::string place = fs::path(clean(path)) / "";
  for (const std::string& input : inputs) {
    const std::string inside = fs::path(clean(input)) / "";
    if (!inside.starts_with(place)) continue;
    return Error{ErrorCode::kUsage,
                 "replacing run " + path + ": the input " + input + " is it or lies in it",
                 "choose another place with -o"};
  }
  return {};
}

Workplace::Workplace(const std::string& output) : output_(clean(output)) {
  path_ = output_ + kMark + std::to_string(getpid());
  remove_abandoned();
}

void Workplace::remove_abandoned() const {
  const std::string prefix = fs::path(output_).filename().string() + kMark;
  std::error_code error;
  std::vector<fs::path> abandoned;
  const fs::path parent = fs::path(output_).parent_path();
  for (fs::directory_iterator it(parent.empty() ? fs::path(".") : parent, error), end;
       !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (!name.starts_with(prefix)) continue;
    std::int64_t pid = 0;
    const char* const begin = name.data() + prefix.size();
    const char* const past = name.data() + name.size();
    const auto [at, wrong] = std::from_chars(begin, past, pid);
    if (wrong != std::errc() || at != past || pid <= 0 || pid > INT32_MAX) continue;
    const bool gone = kill(static_cast<pid_t>(pid), 0) != 0 && errno == ESRCH;
    if (gone && is_at_rest(it->path())) abandoned.push_back(it->path());
  }
  for (const fs::path& path : abandoned) fs::remove_all(path, error);
}

Workplace::~Workplace() {
  std::error_code error;
  if (!moved_) fs::remove_all(path_, error);
}

std::string Workplace::make_unpacked() const {
  std::error_code error;
  fs::create_directory(path_ + "/unpacked", error);  // unpacking will say why it can't write
  return path_ + "/unpacked";
}

void Workplace::remove_unpacked() const {
  std::error_code error;
  fs::remove_all(path_ + "/unpacked", error);
}

Error Workplace::with_output(Error error) const {
  const auto at = error.message.find(path_);
  if (at != std::string::npos) error.message.replace(at, path_.size(), output_);
  return error;
}

Status Workplace::move_to_output() {
  std::error_code error;
  const std::string old = path_ + ".old";
  const bool replace = fs::exists(output_, error);
  if (replace) fs::rename(output_, old, error);
  if (error) return errno_error("replacing run " + output_, error.value());
  fs::rename(path_, output_, error);
  if (error) {
    const int number = error.value();
    if (replace) fs::rename(old, output_, error);
    return errno_error("creating run " + output_, number);
  }
  moved_ = true;
  if (replace) fs::remove_all(old, error);
  return {};
}

}  // namespace teller
