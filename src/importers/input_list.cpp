#include "importers/input_list.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "base/file.h"
#include "importers/content_signs.h"
#include "importers/input_skips.h"
#include "importers/natural_order.h"
#include "importers/tar_members.h"

namespace teller {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kMostFiles = 65'535;
constexpr int kDeepest = 16;

// A file below a folder or in an archive.
struct Found {
  std::string path;
  std::string label;
};

class Lister {
 public:
  explicit Lister(const InputListOptions& options) : options_(options) {}

  Result<InputList> list(const std::vector<std::string>& given) {
    for (const std::string& path : given) {
      std::error_code error;
      if (fs::is_directory(path, error)) {
        TELLER_CHECK_OK(add_folder(path));
        continue;
      }
      TELLER_TRY(const bool archive, is_archive(path));
      if (archive) {
        TELLER_CHECK_OK(add_archive(path, true));
      } else {
        list_.files.push_back({path, path});
      }
    }
    return std::move(list_);
  }

 private:
  // Never an error for what the importers will say better: a missing file, a FIFO.
  Result<bool> is_archive(const std::string& path) const {
    std::error_code error;
    if (!fs::is_regular_file(path, error)) return false;
    const auto head = inflated_head(path, options_.stop);
    return head && is_tar(*head);
  }

  Status add_folder(const std::string& path) {
    std::vector<Found> found;
    ContainerCounts counts;
    counts.label = path;
    TELLER_CHECK_OK(walk(path, 0, found, counts));
    return add_found(std::move(found), std::move(counts), true);
  }

  // Links to folders are not followed: they may lead in circles.
  Status walk(const fs::path& folder, int depth, std::vector<Found>& found,
              ContainerCounts& counts) {
    std::error_code error;
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
      if (stopped()) return stop_error(folder.string());
      const std::string path = it->path().string();
      ++counts.members;
      std::error_code unknown;
      const bool link = it->is_symlink(unknown);
      if (it->is_directory(unknown)) {
        if (fs::equivalent(it->path(), fs::path(options_.workplace).parent_path(), unknown)) {
          --counts.members;  // ours, not theirs
          continue;
        }
        ++(link ? counts.links : counts.folders);
        if (link || depth == kDeepest) {
          list_.skipped.push_back({path, link ? "it is a link to a folder" : "it lies too deep"});
          continue;
        }
        TELLER_CHECK_OK(walk(it->path(), depth + 1, found, counts));
        continue;
      }
      if (it->is_regular_file(unknown)) {
        found.push_back({path, path});
      } else {
        ++counts.links;
        list_.skipped.push_back({path, "it is no regular file"});
      }
      if (found.size() > kMostFiles) {
        return Error{ErrorCode::kUnsupported,
                     "importing " + folder.string() + ": it holds more than " +
                         std::to_string(kMostFiles) + " files",
                     "give the folder with the traces"};
      }
    }
    if (!error) return {};
    if (depth == 0) return errno_error("importing " + folder.string(), error.value());
    list_.skipped.push_back({folder.string(), "it can't be read: " + error.message()});
    return {};
  }

  // Damage is an error, unless what can be read of it is to be kept.
  Result<TarMembers> unpack(const std::string& path, const std::string& folder) const {
    std::error_code error;
    fs::create_directory(folder, error);
    if (error) return errno_error("creating " + folder, error.value());
    TELLER_TRY(TarMembers members, unpack_tar(path, folder, options_.stop));
    if (members.damage.empty() || options_.allow_truncated) return members;
    return Error{ErrorCode::kCorrupt, "unpacking " + path + ": " + members.damage,
                 "--allow-truncated keeps what can be read"};
  }

  Status add_archive(const std::string& path, bool named) {
    const std::string folder = options_.workplace + "/members-" + std::to_string(archives_++);
    auto unpacked = unpack(path, folder);
    if (!unpacked && !named && is_of_one_input(unpacked.error())) {
      std::error_code error;
      fs::remove_all(folder, error);
      list_.skipped.push_back(skipped_for(path, unpacked.error()));
      list_.unreadable.push_back(list_.skipped.back());
      return {};
    }
    TELLER_TRY(TarMembers members, std::move(unpacked));
    if (!members.damage.empty()) {
      list_.notes.push_back(path + ": " + members.damage + "; what can be read was kept");
    }
    for (const std::string& note : members.notes) list_.notes.push_back(path + ": " + note);
    ContainerCounts counts;
    counts.label = path;
    counts.archive = true;
    counts.members = members.members.size();
    std::vector<Found> found;
    for (TarMember& member : members.members) {
      std::string label = path + ": " + member.label;
      if (member.kind == TarKind::kFile) {
        found.push_back({std::move(member.path), std::move(label)});
      } else if (member.kind == TarKind::kFolder) {
        ++counts.folders;
      } else {
        ++counts.links;
        list_.skipped.push_back({std::move(label), "it is no regular file"});
      }
    }
    return add_found(std::move(found), std::move(counts), named);
  }

  // `must`: it is an error if there is no trace and no log among them.
  Status add_found(std::vector<Found> found, ContainerCounts counts, bool must) {
    std::stable_sort(found.begin(), found.end(),
                     [](const Found& a, const Found& b) { return natural_less(a.label, b.label); });
    const std::string from = counts.label;
    const std::size_t before = list_.files.size();
    const std::size_t place = list_.containers.size();
    list_.containers.emplace_back();  // before the archives in it
    for (Found& one : found) {
      if (stopped()) return stop_error(from);
      TELLER_CHECK_OK(add_one(one, place, counts));
    }
    list_.containers[place] = std::move(counts);
    if (list_.files.size() > before || !must) return {};
    if (!list_.unreadable.empty()) return nothing_left(from, list_.unreadable);
    return Error{ErrorCode::kCorrupt,
                 "importing " + from + ": none of its " + std::to_string(found.size()) +
                     " files is a trace or a log that teller knows",
                 "give trace files, or a folder or archive of them"};
  }

  Status add_one(Found& one, std::size_t place, ContainerCounts& counts) {
    const Result<FoundFile> what = options_.what_is(one.path);
    if (!what) {
      ++counts.others;
      list_.skipped.push_back(skipped_for(one.label, what.error()));
      return {};
    }
    if (what->kind != FoundFile::Kind::kOther) {
      const bool log = what->kind == FoundFile::Kind::kLog;
      ++(log ? counts.logs : counts.traces);
      list_.files.push_back({std::move(one.path), std::move(one.label), place, log});
      return {};
    }
    TELLER_TRY(const bool archive, is_archive(one.path));
    ++(archive ? counts.archives : counts.others);
    if (archive && !counts.archive) return add_archive(one.path, false);
    list_.skipped.push_back(
        {std::move(one.label), archive ? "it is an archive in an archive" : what->why});
    return {};
  }

  bool stopped() const {
    return options_.stop != nullptr && options_.stop->load(std::memory_order_relaxed);
  }
  static Error stop_error(const std::string& path) {
    return {ErrorCode::kInterrupted, "importing " + path + ": stopped on request", ""};
  }

  const InputListOptions& options_;
  InputList list_;
  std::size_t archives_ = 0;
};

}  // namespace

Result<InputList> list_inputs(const std::vector<std::string>& given,
                              const InputListOptions& options) {
  return Lister(options).list(given);
}

}  // namespace teller
