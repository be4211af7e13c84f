#include "importers/copies.h"

#include <sys/stat.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/sha256.h"
#include "importers/content_signs.h"
#include "importers/input_stream.h"
#include "importers/json_text.h"

namespace teller {

namespace {

// Of a file's begin or of all of it; "" for what is not compared.
using Digest = std::string;

bool is_blank(std::string_view text) {
  return std::all_of(text.begin(), text.end(), is_json_blank);
}

// What can't be read is no copy: its importer says what is wrong with it.
Result<Digest> unless_stopped(const Error& error) {
  if (error.code == ErrorCode::kInterrupted) return error;
  return Digest();
}

Result<Digest> digest_of_head(const std::string& path, const std::atomic<bool>* stop) {
  const auto head = inflated_head(path, stop);
  if (!head) return unless_stopped(head.error());
  if (is_blank(*head)) return Digest();
  Sha256 hash;
  hash.update(*head);
  return hash.hex();
}

Result<Digest> digest_of_all(const std::string& path, const std::atomic<bool>* stop,
                             const CopyLimits& limits) {
  const auto input = InputStream::open(path, {.stop = stop});
  if (!input) return unless_stopped(input.error());
  std::uint64_t left = std::max(limits.always_bytes, (*input)->file_bytes() * limits.times);
  Sha256 hash;
  while (true) {
    const auto piece = (*input)->next();
    if (!piece) return unless_stopped(piece.error());
    if (piece->empty()) break;
    if (piece->size() > left) return Digest();
    left -= piece->size();
    hash.update(*piece);
  }
  return hash.hex() + ((*input)->cut_reason().empty() ? "" : " cut");
}

using Copies = std::vector<std::optional<std::size_t>>;

// Takes those that are one file; links and several ways to write a path lead to it.
void find_same_files(const std::vector<CopyCandidate>& files, Copies& copies) {
  std::map<std::tuple<std::string, dev_t, ino_t>, std::size_t> first;
  for (std::size_t i = 0; i < files.size(); ++i) {
    struct stat info {};
    if (stat(files[i].path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) continue;
    const auto [seen, is_new] =
        first.emplace(std::tuple(files[i].apart, info.st_dev, info.st_ino), i);
    if (!is_new) copies[i] = seen->second;
  }
}

// Of the files, by number, those that begin alike, in groups of two or more.
Result<std::vector<std::vector<std::size_t>>> alike(const std::vector<CopyCandidate>& files,
                                                    const std::vector<std::size_t>& numbers,
                                                    const std::atomic<bool>* stop) {
  std::map<Digest, std::vector<std::size_t>> by_head;
  for (const std::size_t i : numbers) {
    TELLER_TRY(Digest head, digest_of_head(files[i].path, stop));
    if (!head.empty()) by_head[std::move(head)].push_back(i);
  }
  std::vector<std::vector<std::size_t>> groups;
  for (auto& [head, group] : by_head) {
    if (group.size() > 1) groups.push_back(std::move(group));
  }
  return groups;
}

}  // namespace

std::string twin_name(std::string path) {
  for (const std::string_view suffix : {".gz", ".zst"}) {
    if (!path.ends_with(suffix)) continue;
    path.resize(path.size() - suffix.size());
    break;
  }
  return path;
}

Result<std::vector<std::optional<std::size_t>>> find_copies(const std::vector<CopyCandidate>& files,
                                                            const std::atomic<bool>* stop,
                                                            const CopyLimits& limits) {
  Copies copies(files.size());
  find_same_files(files, copies);
  std::map<std::pair<std::string, std::string>, std::vector<std::size_t>> comparable;
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (!copies[i]) comparable[{files[i].apart, files[i].twin}].push_back(i);
  }
  for (const auto& [key, numbers] : comparable) {
    if (numbers.size() < 2) continue;
    TELLER_TRY(const auto groups, alike(files, numbers, stop));
    for (const std::vector<std::size_t>& group : groups) {
      std::map<Digest, std::size_t> first;
      for (const std::size_t i : group) {
        TELLER_TRY(Digest all, digest_of_all(files[i].path, stop, limits));
        if (all.empty()) continue;
        const auto [seen, is_new] = first.emplace(std::move(all), i);
        if (!is_new) copies[i] = seen->second;
      }
    }
  }
  return copies;
}

}  // namespace teller
