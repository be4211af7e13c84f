#include "importers/made_parents.h"

#include <unistd.h>

#include <filesystem>
#include <system_error>

namespace teller {

namespace fs = std::filesystem;

MadeParents::MadeParents(const std::string& output) {
  std::error_code error;
  fs::path path = fs::weakly_canonical(output, error);
  if (error) return;
  if (path.filename().empty()) path = path.parent_path();
  for (path = path.parent_path(); path.has_relative_path(); path = path.parent_path()) {
    if (fs::symlink_status(path, error).type() != fs::file_type::not_found) break;
    missing_.push_back(path.string());
  }
}

MadeParents::~MadeParents() {
  for (const std::string& path : missing_) {
    if (rmdir(path.c_str()) != 0) break;  // never what is not empty
  }
}

}  // namespace teller
