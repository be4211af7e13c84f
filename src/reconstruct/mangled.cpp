#include "reconstruct/mangled.h"

#include <algorithm>
#include <cstddef>

namespace teller {

namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Reads the parts of a mangled name (Itanium C++ ABI, 5.1) that outline_of() needs.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  bool take(std::string_view prefix) {
    if (text_.substr(at_, prefix.size()) != prefix) return false;
    at_ += prefix.size();
    return true;
  }

  // "5aiter10some_kernel" -> "aiter::some_kernel"; "" where no name stands. Anonymous namespaces
  // are left out.
  std::string names() {
    std::string out;
    while (at_ < text_.size()) {
      const std::string_view name = next_name();
      if (name.empty()) break;
      if (name.substr(0, 10) == "_GLOBAL__N") continue;
      if (!out.empty()) out += "::";
      out += name;
    }
    return out;
  }

  // The first name among the template arguments that begin here; "" if there is none.
  std::string first_argument() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (is_digit(c)) return names();
      if (c == 'N') {
        ++at_;
        skip_substitution();
        if (std::string found = names(); !found.empty()) return found;
        return "";
      }
      if (c == 'E' || c == '_') return "";
      if (c == 'L') {
        skip_literal();
      } else if (!skip_substitution()) {
        ++at_;  // a type of one letter, or a letter of a longer one
      }
    }
    return "";
  }

 private:
  std::string_view next_name() {
    std::size_t end = at_;
    std::size_t length = 0;
    while (end < text_.size() && is_digit(text_[end]) && length < text_.size()) {
      length = length * 10 + static_cast<std::size_t>(text_[end++] - '0');
    }
    if (length == 0 || length > text_.size() - end) return {};
    at_ = end + length;
    return text_.substr(end, length);
  }

  // "S_", "S0_", "St".
  bool skip_substitution() {
    if (at_ >= text_.size() || text_[at_] != 'S') return false;
    const std::size_t end = text_.find('_', at_);
    const bool numbered = end != std::string_view::npos && end - at_ <= 4;
    at_ = numbered ? end + 1 : std::min(at_ + 2, text_.size());
    return true;
  }

  void skip_literal() {
    const std::size_t end = text_.find('E', at_);
    at_ = end == std::string_view::npos ? text_.size() : end + 1;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

MangledOutline outline_of(std::string_view mangled) {
  MangledOutline outline;
  Reader reader(mangled);
  if (!reader.take("_Z")) return outline;
  if (reader.take("N")) reader.take("K");
  outline.name = reader.names();
  if (!outline.name.empty() && reader.take("I")) outline.argument = reader.first_argument();
  return outline;
}

}  // namespace teller
