// Reads a text from given places on: what stands there, and what comes behind it. Private to
// redact/.
#pragma once

#include <cstddef>
#include <string_view>

namespace teller {

class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {}

  char at(std::size_t index) const { return index < text_.size() ? text_[index] : '\0'; }
  // Behind colours, and behind blanks among them.
  std::size_t skip_controls(std::size_t from) const;
  std::size_t skip_blanks(std::size_t from) const;
  // The quote at `from`, behind "\" and the prefix of a literal (b'…'); 0 if there is none.
  std::size_t quote_size(std::size_t from) const;
  std::string_view token_at(std::size_t from) const;
  bool is_digits(std::size_t from) const;
  // At least 8 characters of letters and digits mixed, and no number with a unit.
  bool is_mixed(std::size_t from) const;
  // A string, or brackets around strings: not the shape of a tensor.
  bool holds_strings(std::size_t from) const;
  // The bracket of a call with a string in it: "SecretStr(value='…')".
  bool holds_value(std::size_t bracket) const;
  // "api_key: str = '…'".
  std::size_t behind_type(std::size_t from) const;
  // The credential may be the word behind, if the first is one of letters only.
  std::size_t behind_unknown_scheme(std::size_t from) const;
  // "password=None, port=1".
  bool hides_nothing(std::size_t from) const;
  // The bracket of "SecretStr('…')", or `from`.
  std::size_t behind_call(std::size_t from) const;

 protected:
  std::string_view text_;
};

// `word`, in whatever case, is `lower_word`.
bool same_word(std::string_view word, std::string_view lower_word);
// Values that hide nothing: "None", "''", "***".
bool is_nothing(std::string_view value);
// The size of the scheme and blanks in front of a credential ("Bearer "), 0 if it is none we know.
std::size_t scheme_size(std::string_view text);

}  // namespace teller
