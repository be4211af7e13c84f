// Characters as log lines use them. Private to redact/.
#pragma once

#include <cstddef>
#include <string_view>

namespace teller {

inline bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
inline bool is_upper(char c) {
  return c >= 'A' && c <= 'Z';
}
inline bool is_alpha(char c) {
  return is_upper(c) || (c >= 'a' && c <= 'z');
}
inline bool is_alnum(char c) {
  return is_digit(c) || is_alpha(c);
}
inline bool is_name(char c) {
  return is_alnum(c) || c == '_' || c == '-';
}
inline bool is_blank(char c) {
  return c == ' ' || c == '\t';
}
inline bool is_quote(char c) {
  return c == '\'' || c == '"';
}

// The last byte of a control sequence of a terminal ("ESC [ 3 5 m").
inline bool ends_control(char c) {
  return c >= 0x40 && c <= 0x7e;
}
// The size of the control sequence at the front of `text`, 0 if there is none.
inline std::size_t control_size(std::string_view text) {
  constexpr std::size_t kMaxControl = 64;
  if (!text.starts_with("\x1b[")) return 0;
  for (std::size_t at = 2; at < text.size() && at < kMaxControl; ++at) {
    if (ends_control(text[at])) return at + 1;
    if (text[at] < 0x20) return 0;
  }
  return 0;
}

}  // namespace teller
