#include "importers/workplace.h"

#include <unistd.h>

#include <filesystem>
#include <system_error>

#include "base/file.h"
#include "run_folder/run_folder.h"

namespace teller {

namespace fs = std::filesystem;

namespace {

// Without a slash at the end, links followed: the folder itself is moved, not the link.
std::string clean(const std::string& output) {
  std::error_code error;
  fs::path path = fs::weakly_canonical(output, error);
  if (error) path = output;
  if (path.filename().empty()) path = path.parent_path();
  return path.string();
}

}  // namespace

Status check_output(const std::string& path, bool overwrite) {
  const std::string action = "creating run " + path;
  std::error_code error;
  const auto status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) return {};
  if (error) return errno_error(action, error.value());
  if (!fs::is_directory(status)) {
    return Error{ErrorCode::kUsage, action + ": a file of that name is there",
                 "choose another place with -o"};
  }
  const bool empty = fs::is_empty(path, error);
  if (error) return errno_error(action, error.value());
  if (empty) return {};
  if (!overwrite) {
    return Error{ErrorCode::kUsage, action + ": it is there and not empty",
                 "choose another place with -o, or --overwrite to replace it"};
  }
  if (auto old = RunFolder::open(path); !old && old.error().code != ErrorCode::kUnsupported) {
    return Error{ErrorCode::kUsage, action + ": it is not a teller run, so it is not replaced",
                 "choose another place with -o"};
  }
  return {};
}

Workplace::Workplace(const std::string& output) : output_(clean(output)) {
  path_ = output_ + ".importing-" + std::to_string(getpid());
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
