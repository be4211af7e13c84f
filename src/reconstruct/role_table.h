// Which role a name has: lines of role files, the first that fits decides. Format of the files:
// docs/reconstruct.md. Private to reconstruct/ and its tests.
#pragma once

#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "reconstruct/role_pattern.h"
#include "teller/event.h"
#include "teller/result.h"

namespace teller {

// What teller brings: data/roles/roles.txt, compiled in.
std::string_view built_in_roles();

class RoleTable {
 public:
  struct Role {
    std::string name;
    std::string description;
  };
  // Index of the line that gives a name its role.
  static constexpr std::uint32_t kNone = 0xffffffff;

  // The built-in lines, and before them those of `files`, the last file first. Fails with one line
  // that names file and line for what is no role file.
  static Result<RoleTable> load(const std::vector<std::string>& files);
  // The same from one text, called `name` in errors.
  static Result<RoleTable> parse(const std::string& name, std::string_view text);

  // The line that fits `name` in `layer`; kNone if none does. Linear in the length of the name.
  std::uint32_t find(Layer layer, std::string_view name) const;
  const Role& role(std::uint32_t line) const { return roles_[lines_[line].role]; }
  // The pattern as the file has it.
  const std::string& pattern(std::uint32_t line) const { return lines_[line].text; }
  const std::vector<Role>& roles() const { return roles_; }

 private:
  static constexpr std::size_t kLayers = 5;
  struct Line {
    RolePattern pattern;
    std::string text;
    std::size_t role;
    std::uint8_t layers;  // bit per layer
  };

  Status add(const std::string& file, std::string_view text);
  std::string add_line(std::string_view line, std::set<std::string>& seen,
                       std::vector<Line>& lines);
  std::string add_role(std::string_view rest);
  std::string add_match(std::string_view rest, std::set<std::string>& seen,
                        std::vector<Line>& lines);
  std::size_t find_role(std::string_view name) const;
  void index_lines();

  std::vector<Role> roles_;
  std::vector<Line> lines_;                                   // in the order of the asking
  std::array<std::vector<std::uint32_t>, kLayers> by_layer_;  // lines of each layer
};

}  // namespace teller
