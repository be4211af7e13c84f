#include "importers/source_names.h"

#include <cstring>
#include <filesystem>
#include <map>

#include "base/utf8.h"

namespace teller {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kMostBytes = 100;
constexpr int kMostParts = 16;

bool is_plain(std::uint32_t code) {
  return (code >= 'a' && code <= 'z') || (code >= 'A' && code <= 'Z') ||
         (code >= '0' && code <= '9') || code == '.' || code == '_' || code == '-' || code >= 0x80;
}

// The last `parts` parts of a path.
std::string last_parts(const std::string& path, int parts) {
  std::string name = last_part(path);
  fs::path folder = fs::path(path).parent_path();
  for (int i = 1; i < parts && !folder.filename().empty(); ++i) {
    name = folder.filename().string() + "/" + name;
    folder = folder.parent_path();
  }
  return name;
}

}  // namespace

std::string last_part(const std::string& path) {
  const fs::path name = fs::path(path).filename();
  return name.empty() ? path : name.string();
}

std::vector<std::string> source_names(const std::vector<InputFile>& inputs) {
  std::vector<std::string> names;
  for (const InputFile& input : inputs) names.push_back(last_part(input.label));
  for (int parts = 2; parts <= kMostParts; ++parts) {
    std::map<std::string, int> seen;
    for (const std::string& name : names) ++seen[name];
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (seen[names[i]] > 1) names[i] = last_parts(inputs[i].label, parts);
    }
  }
  return names;
}

std::string event_file_name(std::size_t index, const std::string& name) {
  std::string_view rest = name;
  rest.remove_prefix(rest.find_last_of('/') + 1);  // 0 where there is none
  for (const char* ending : {".gz", ".zst", ".json", ".sqlite", ".trace", ".pt"}) {
    if (rest.size() > std::strlen(ending) && rest.ends_with(ending)) {
      rest.remove_suffix(std::strlen(ending));
    }
  }
  std::string stem;
  while (!rest.empty()) {
    const Utf8Piece piece = read_utf8(rest);
    const bool kept = piece.valid && is_plain(piece.code);
    const std::string_view text = kept ? rest.substr(0, piece.length) : "_";
    if (stem.size() + text.size() > kMostBytes) break;
    stem += text;
    rest.remove_prefix(piece.length);
  }
  return "events/" + std::to_string(index) + "." + stem + ".tev";
}

}  // namespace teller
