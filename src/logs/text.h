// Small pieces of the log parser: characters, words and a cursor that reads a line from the left.
// Private to logs/ and its tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace teller {

inline bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
inline bool is_upper(char c) {
  return c >= 'A' && c <= 'Z';
}
inline bool is_word(char c) {
  return is_digit(c) || is_upper(c) || (c >= 'a' && c <= 'z') || c == '_';
}

// Reads a line from the left. A read that fails leaves the cursor where it was.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : rest_(text) {}

  std::string_view rest() const { return rest_; }
  bool at_end() const { return rest_.empty(); }
  char peek() const { return rest_.empty() ? '\0' : rest_.front(); }

  bool take(std::string_view literal) {
    if (!rest_.starts_with(literal)) return false;
    rest_.remove_prefix(literal.size());
    return true;
  }
  void skip_blanks() {
    while (peek() == ' ' || peek() == '\t') rest_.remove_prefix(1);
  }
  // A number of `min` to `max` digits.
  std::optional<std::int64_t> digits(std::size_t min, std::size_t max) {
    std::size_t count = 0;
    std::int64_t value = 0;
    while (count < max && count < rest_.size() && is_digit(rest_[count])) {
      value = value * 10 + (rest_[count++] - '0');
    }
    if (count < min) return std::nullopt;
    rest_.remove_prefix(count);
    return value;
  }
  // What stands before the first of `ends`; the cursor then stands on that. Nothing if none of them
  // is within `limit` characters.
  std::optional<std::string_view> until(std::string_view ends, std::size_t limit) {
    const std::size_t at = rest_.substr(0, limit).find_first_of(ends);
    if (at == std::string_view::npos) return std::nullopt;
    const std::string_view taken = rest_.substr(0, at);
    rest_.remove_prefix(at);
    return taken;
  }
  // The letters, digits and underscores that come next; may be empty.
  std::string_view word() {
    std::size_t count = 0;
    while (count < rest_.size() && is_word(rest_[count])) ++count;
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }

 private:
  std::string_view rest_;
};

// "DEBUG", "INFO", "WARNING", "ERROR" or "CRITICAL" if `text` begins with a word that means it; "".
std::string_view level_at(std::string_view text);
// The same for the letters of glog: E, W, I, F, D, V.
std::string_view level_of_letter(char letter);
// True for "core.py:349" and the like: a source file with a line number.
bool is_source(std::string_view text);

}  // namespace teller
