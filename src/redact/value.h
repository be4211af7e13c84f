// Finds the end of a value in text: a token, a quoted string, a list. Can stop in the middle and go
// on with the next piece of text. Private to redact/ and its tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace teller {

class ValueEnd {
 public:
  // A value without quotes: ends before a blank, a quote, a comma, a bracket.
  static ValueEnd token();
  // A string that ends at `quote`; if `escaped`, at a quote with one backslash before it, because
  // the string itself stands in a string.
  static ValueEnd quoted(char quote, bool escaped);
  // A list or a dictionary whose opening bracket has been read.
  static ValueEnd nested();

  // The index behind the value's end in `text`, which goes on where the text before ended; npos if
  // it does not end there. `whole`: nothing comes behind `text`.
  std::size_t find(std::string_view text, bool whole);
  // The text ended with a quote that ends the value unless a letter follows.
  bool pending() const { return pending_ && mode_ == Mode::kQuoted; }

 private:
  enum class Mode : std::uint8_t { kToken, kQuoted, kNested };
  bool is_quote(char c) const;

  Mode mode_ = Mode::kToken;
  char quote_ = '\0';        // that of the string we are in
  bool escaped_ = false;     // strings end at \" instead of "
  std::size_t slashes_ = 0;  // backslashes just before
  std::size_t depth_ = 1;
  bool pending_ = false;  // a quote was the last character
};

}  // namespace teller
