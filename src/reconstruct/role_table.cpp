#include "reconstruct/role_table.h"

#include <algorithm>
#include <utility>

#include "base/file.h"
#include "reconstruct/family.h"

namespace teller {

namespace {

constexpr std::uint64_t kMaxFileBytes = 1 << 20;
constexpr std::size_t kMaxRoles = 254;
constexpr std::size_t kMaxPattern = 500;

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

// Takes the first word off `text`.
std::string_view take_word(std::string_view& text) {
  text = trimmed(text);
  const std::size_t size = std::find_if(text.begin(), text.end(), is_blank) - text.begin();
  const std::string_view word = text.substr(0, size);
  text = trimmed(text.substr(size));
  return word;
}

std::string quoted(std::string_view text) {
  return "\"" + std::string(text.substr(0, 60)) + "\"";
}

bool is_role_name(std::string_view name) {
  return !name.empty() && name.size() <= 40 && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
}

// Bits of the layers that `word` names; 0 for what names none.
std::uint8_t layers_of(std::string_view word, std::size_t count) {
  if (word == "*") return static_cast<std::uint8_t>((1u << count) - 1);
  std::uint8_t bits = 0;
  for (std::size_t at = 0; at <= word.size();) {
    const std::size_t end = std::min(word.find(',', at), word.size());
    std::size_t layer = 0;
    while (layer < count && layer_name(static_cast<Layer>(layer)) != word.substr(at, end - at)) {
      ++layer;
    }
    if (layer == count) return 0;
    bits = static_cast<std::uint8_t>(bits | 1u << layer);
    at = end + 1;
  }
  return bits;
}

}  // namespace

Result<RoleTable> RoleTable::load(const std::vector<std::string>& files) {
  TELLER_TRY(RoleTable table, parse("(built in)", built_in_roles()));
  for (const std::string& file : files) {
    TELLER_TRY(const std::string text, read_file(file, "role file", kMaxFileBytes));
    TELLER_CHECK_OK(table.add(file, text));
  }
  table.index_lines();
  return table;
}

Result<RoleTable> RoleTable::parse(const std::string& name, std::string_view text) {
  RoleTable table;
  TELLER_CHECK_OK(table.add(name, text));
  table.index_lines();
  return table;
}

Status RoleTable::add(const std::string& file, std::string_view text) {
  std::set<std::string> seen;
  std::vector<Line> lines;
  std::size_t number = 0;
  while (!text.empty()) {
    const std::size_t size = std::min(text.find('\n'), text.size());
    const std::string_view line = trimmed(text.substr(0, size));
    text.remove_prefix(std::min(size + 1, text.size()));
    ++number;
    if (line.empty() || line.front() == '#') continue;
    if (const std::string wrong = add_line(line, seen, lines); !wrong.empty()) {
      return Error{ErrorCode::kCorrupt,
                   "reading roles of " + file + ", line " + std::to_string(number) + ": " + wrong,
                   "write \"role NAME what it is\" or \"match LAYERS ROLE PATTERN\" "
                   "(docs/reconstruct.md, Roles)"};
    }
  }
  lines.insert(lines.end(), std::make_move_iterator(lines_.begin()),
               std::make_move_iterator(lines_.end()));
  lines_ = std::move(lines);
  return {};
}

// What is wrong with the line; "" if it was added.
std::string RoleTable::add_line(std::string_view line, std::set<std::string>& seen,
                                std::vector<Line>& lines) {
  if (line.find('\0') != std::string_view::npos) return "it holds a byte of value 0";
  const std::string_view word = take_word(line);
  if (word == "role") return add_role(line);
  if (word == "match") return add_match(line, seen, lines);
  return quoted(word) + " is neither \"role\" nor \"match\"";
}

std::string RoleTable::add_role(std::string_view rest) {
  const std::string_view name = take_word(rest);
  if (!is_role_name(name)) {
    return quoted(name) + " can't name a role: small letters, digits and _, at most 40 of them";
  }
  if (find_role(name) < roles_.size()) return "there is a role " + quoted(name) + " already";
  if (rest.empty()) return "the role " + quoted(name) + " does not say what it is";
  if (roles_.size() == kMaxRoles) return "more than " + std::to_string(kMaxRoles) + " roles";
  roles_.push_back({std::string(name), std::string(rest)});
  return "";
}

std::string RoleTable::add_match(std::string_view rest, std::set<std::string>& seen,
                                 std::vector<Line>& lines) {
  const std::string_view layers = take_word(rest);
  const std::string_view role = take_word(rest);
  const std::uint8_t bits = layers_of(layers, kLayers);
  if (bits == 0) return quoted(layers) + " names no layer: STEP, FE, BE, RT, K or *";
  const std::size_t index = find_role(role);
  if (index == roles_.size()) return "there is no role " + quoted(role);
  if (rest.empty()) return "there is no pattern";
  if (rest.size() > kMaxPattern) {
    return "the pattern is longer than " + std::to_string(kMaxPattern) + " bytes";
  }
  if (!seen.insert(std::string(layers) + " " + std::string(rest)).second) {
    return "the pattern " + quoted(rest) + " stands above already, so that this line never decides";
  }
  lines.push_back({RolePattern(rest), std::string(rest), index, bits});
  return "";
}

std::size_t RoleTable::find_role(std::string_view name) const {
  const auto found =
      std::find_if(roles_.begin(), roles_.end(), [&](const Role& r) { return r.name == name; });
  return static_cast<std::size_t>(found - roles_.begin());
}

void RoleTable::index_lines() {
  for (std::size_t layer = 0; layer < kLayers; ++layer) {
    by_layer_[layer].clear();
    for (std::uint32_t line = 0; line < lines_.size(); ++line) {
      if ((lines_[line].layers >> layer & 1) != 0) by_layer_[layer].push_back(line);
    }
  }
}

std::uint32_t RoleTable::find(Layer layer, std::string_view name) const {
  const auto index = static_cast<std::size_t>(layer);
  if (index >= kLayers || by_layer_[index].empty()) return kNone;
  split_request(name);  // whose it is changes nothing
  const MatchedName matched(plain_name(name));
  for (const std::uint32_t line : by_layer_[index]) {
    if (lines_[line].pattern.matches(matched)) return line;
  }
  return kNone;
}

}  // namespace teller
