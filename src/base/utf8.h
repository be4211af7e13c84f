// UTF-8 as Unicode defines it: no overlong forms, no surrogates, nothing above U+10FFFF.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace teller {

// What stands in for bytes that are no character: U+FFFD.
inline constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

// The start of a text: one character, or bytes that are none.
struct Utf8Piece {
  std::size_t length = 0;  // 0 only for an empty text
  bool valid = false;
  std::uint32_t code = 0;  // the code point, if valid
};

// Reads the character at the start of `text`. If there is none, `length` bytes are what one U+FFFD
// stands for: as much as could begin a character, at least one (the practice that Unicode
// recommends).
Utf8Piece read_utf8(std::string_view text);
// Appends the character of a code point.
void append_utf8(std::uint32_t code, std::string& out);
// Appends `text` with each broken character replaced by U+FFFD.
void append_valid_utf8(std::string_view text, std::string& out);

}  // namespace teller
