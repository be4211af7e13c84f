#include "base/terminal.h"

#include <array>
#include <cstdint>
#include <cstdio>

#include "base/utf8.h"

namespace teller {

namespace {

bool is_dangerous(std::uint32_t c) {
  const bool control = c < 0x20 || (c >= 0x7F && c < 0xA0);
  const bool separator = c == 0x2028 || c == 0x2029 || c == 0xFEFF;
  const bool direction = c == 0x061C || c == 0x200E || c == 0x200F ||
                         (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
  return control || separator || direction;
}

std::string escaped(const char* format, unsigned value) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

}  // namespace

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Utf8Piece c = read_utf8(text);
    const std::size_t length = c.valid ? c.length : 1;
    if (!c.valid) {
      out += escaped("\\x%02x", static_cast<unsigned char>(text[0]));
    } else if (c.code == '\t') {
      out += ' ';
    } else if (is_dangerous(c.code)) {
      out += c.code < 0x100 ? escaped("\\x%02x", c.code) : escaped("\\u%04x", c.code);
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(length);
  }
  return out;
}

}  // namespace teller
