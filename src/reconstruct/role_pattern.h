// Patterns of names: text in which "*" stands for any text. Matching takes time linear in the name
// and never goes back over a "*", whatever the name holds. Private to reconstruct/ and its tests.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace teller {

// Only the beginning of a longer name is looked at.
inline constexpr std::size_t kMaxMatchedName = 4096;

// A name as patterns see it: ASCII letters small, with the set of its runs of three characters, by
// which most patterns that do not fit are told at once.
class MatchedName {
 public:
  explicit MatchedName(std::string_view name);

  std::string_view text() const { return text_; }
  bool may_contain(std::uint16_t run) const { return runs_[run]; }

 private:
  std::string text_;
  std::bitset<1024> runs_;
};

class RolePattern {
 public:
  // `text` is not empty; the case of its ASCII letters does not count.
  explicit RolePattern(std::string_view text);

  bool matches(const MatchedName& name) const;

 private:
  std::vector<std::string> parts_;  // between the "*", none of them empty
  bool from_begin_ = false;         // the name begins with the first part
  bool to_end_ = false;             // the name ends with the last part
  std::array<std::uint16_t, 3> runs_{};
  std::size_t run_count_ = 0;
};

}  // namespace teller
