#include "run_folder/output_file.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>

#include "run_folder/run_folder.h"

namespace teller {

namespace fs = std::filesystem;

namespace {

// Read whether or not the manifest lists them.
constexpr const char* kUnlisted[] = {"manifest.json", "logs.jsonl", "context.jsonl",
                                     "labels.jsonl"};

bool is_own_file(const RunFolder& run, const fs::path& relative) {
  if (*relative.begin() == "events") return true;
  const auto same = [&](const std::string& own) { return fs::path(own) == relative; };
  if (std::any_of(std::begin(kUnlisted), std::end(kUnlisted), same)) return true;
  const auto artifacts = run.manifest().find("artifacts");
  if (artifacts == run.manifest().end()) return false;
  for (const auto& [name, entry] : artifacts->items()) {
    const std::vector<std::string> files = run.artifact_files(name);
    if (std::any_of(files.begin(), files.end(), same)) return true;
  }
  return false;
}

}  // namespace

Status check_output_file(const std::string& path) {
  std::error_code error;
  const fs::path given = fs::absolute(path, error);
  // The file itself may be a link, which is replaced and not followed.
  const fs::path folder = fs::weakly_canonical(given.parent_path(), error);
  if (error) return {};  // the write says why it can't be written
  const fs::path file = folder / given.filename();
  for (fs::path above = folder; !above.empty(); above = above.parent_path()) {
    if (fs::is_regular_file(above / "manifest.json", error)) {
      const auto run = RunFolder::open(above.string());
      const fs::path relative = file.lexically_relative(above);
      if (run && is_own_file(*run, relative)) {
        return Error{ErrorCode::kUsage,
                     "writing " + path + ": it is a file of the run " + above.string(),
                     "give another place"};
      }
    }
    if (above == above.parent_path()) break;
  }
  return {};
}

}  // namespace teller
