#include "importers/copies.h"

#include <algorithm>
#include <map>
#include <string_view>
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

}  // namespace

Result<std::vector<std::optional<std::size_t>>> find_copies(const std::vector<CopyCandidate>& files,
                                                            const std::atomic<bool>* stop,
                                                            const CopyLimits& limits) {
  std::vector<std::optional<std::size_t>> copies(files.size());
  if (files.size() < 2) return copies;
  std::map<std::pair<std::string, Digest>, std::vector<std::size_t>> alike;
  for (std::size_t i = 0; i < files.size(); ++i) {
    TELLER_TRY(Digest head, digest_of_head(files[i].path, stop));
    if (!head.empty()) alike[{files[i].apart, std::move(head)}].push_back(i);
  }
  for (const auto& [begin, group] : alike) {
    if (group.size() < 2) continue;
    std::map<Digest, std::size_t> first;
    for (const std::size_t i : group) {
      TELLER_TRY(Digest all, digest_of_all(files[i].path, stop, limits));
      if (all.empty()) continue;
      const auto [seen, is_new] = first.emplace(std::move(all), i);
      if (!is_new) copies[i] = seen->second;
    }
  }
  return copies;
}

}  // namespace teller
