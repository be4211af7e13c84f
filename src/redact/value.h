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
  // One that may hold any sign: ends before a blank or a quote; `query`: also before "&".
  static ValueEnd word(bool query);
  // All up to the end of the line.
  static ValueEnd line();
  // A string that ends at `quote`; if `escaped`, at a quote with one backslash before it, because
  // the string itself stands in a string.
  static ValueEnd quoted(char quote, bool escaped);
  // A string that ends at three of `quote`.
  static ValueEnd triple(char quote);
  // A list or a dictionary whose opening bracket has been read.
  static ValueEnd nested();
  // A block of PEM: ends behind "-----END".
  static ValueEnd pem();

  // The index behind the value's end in `text`, which goes on where the text before ended; npos if
  // it does not end there. `whole`: nothing comes behind `text`.
  std::size_t find(std::string_view text, bool whole);
  // The text ended with a quote that ends the value unless a letter follows.
  bool pending() const { return pending_ && mode_ == Mode::kQuoted; }
  // The value goes on behind the end of a line: it has quotes, brackets, or marks of its own.
  bool spans_lines() const {
    return mode_ != Mode::kToken && mode_ != Mode::kWord && mode_ != Mode::kLine;
  }

 private:
  enum class Mode : std::uint8_t { kToken, kWord, kLine, kQuoted, kTriple, kNested, kPem };
  bool ends_string(char c) const;
  bool in_control(char c);
  std::size_t find_bare(std::string_view text);
  std::size_t find_triple(std::string_view text);
  std::size_t find_pem(std::string_view text);

  Mode mode_ = Mode::kToken;
  char quote_ = '\0';        // that of the string we are in
  bool escaped_ = false;     // strings end at \" instead of "
  bool query_ = false;       // a word in the query of an address
  std::size_t slashes_ = 0;  // backslashes just before
  std::size_t depth_ = 1;
  bool pending_ = false;      // a quote was the last character
  std::size_t matched_ = 0;   // how much of the end mark was just before
  std::uint8_t control_ = 0;  // bytes seen of a control sequence: none, ESC, more
};

}  // namespace teller
