#include "report/terminal.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace teller::report_detail {
namespace {

// One code point at the begin of `text`: its value and length; length 0 if it is no UTF-8.
struct CodePoint {
  std::uint32_t value = 0;
  std::size_t length = 0;
};

CodePoint decode(std::string_view text) {
  const auto byte = [&text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t length = lead >= 0xF0 && lead < 0xF5   ? 4
                             : lead >= 0xE0 && lead < 0xF0 ? 3
                             : lead >= 0xC2 && lead < 0xE0 ? 2
                                                           : 0;
  if (length == 0 || length > text.size()) return {};
  std::uint32_t value = lead & (0xFFu >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {};
    value = (value << 6) | (byte(i) & 0x3Fu);
  }
  constexpr std::array<std::uint32_t, 5> kLeast{0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
  if (value < kLeast[length] || value > 0x10FFFF || surrogate) return {};
  return {value, length};
}

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

bool is_continuation(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const CodePoint c = decode(text);
    const std::size_t length = std::max<std::size_t>(c.length, 1);
    if (c.length == 0) {
      out += escaped("\\x%02x", static_cast<unsigned char>(text[0]));
    } else if (c.value == '\t') {
      out += ' ';
    } else if (is_dangerous(c.value)) {
      out += c.value < 0x100 ? escaped("\\x%02x", c.value) : escaped("\\u%04x", c.value);
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(length);
  }
  return out;
}

std::size_t columns(std::string_view text) {
  return text.size() -
         static_cast<std::size_t>(std::count_if(text.begin(), text.end(), is_continuation));
}

std::string cut(std::string_view text, std::size_t width) {
  if (columns(text) <= width) return std::string(text);
  if (width == 0) return "";
  std::size_t bytes = 0;
  for (std::size_t seen = 0; bytes < text.size(); ++bytes) {
    if (is_continuation(text[bytes])) continue;
    if (seen + 1 == width) break;
    ++seen;
  }
  return std::string(text.substr(0, bytes)) + "…";
}

std::string left(std::string_view text, std::size_t width) {
  std::string out = cut(text, width);
  out.append(width - std::min(width, columns(out)), ' ');
  return out;
}

std::string right(std::string_view text, std::size_t width) {
  const std::string out = cut(text, width);
  return std::string(width - std::min(width, columns(out)), ' ') + out;
}

std::string wrap(std::string_view text, std::size_t width, std::string_view first) {
  const std::size_t indent = columns(first);
  const std::size_t room = std::max<std::size_t>(width > indent ? width - indent : 0, 20);
  std::string out(first);
  std::size_t used = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    const std::size_t wide = columns(word);
    if (used > 0 && used + 1 + wide > room) {
      out += '\n' + std::string(indent, ' ');
      used = 0;
    }
    if (used > 0) out += ' ';
    out += word;
    used += wide + (used > 0 ? 1 : 0);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out + '\n';
}

std::string duration(std::int64_t ns) {
  struct Unit {
    double ns;
    const char* name;
  };
  constexpr std::array<Unit, 4> kUnits{{{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}}};
  std::array<char, 40> text{};
  for (const Unit& unit : kUnits) {
    const double value = static_cast<double>(ns) / unit.ns;
    if (std::abs(value) < 1 && unit.ns > 1) continue;
    const int digits = unit.ns == 1 ? 0 : std::abs(value) < 10 ? 2 : std::abs(value) < 100 ? 1 : 0;
    std::snprintf(text.data(), text.size(), "%.*f %s", digits, value, unit.name);
    break;
  }
  return text.data();
}

std::string paint(const TextStyle& style, Ink ink, std::string_view text) {
  if (!style.color || ink == Ink::kPlain) return std::string(text);
  constexpr std::array<const char*, 6> kCodes{"0", "1", "2", "31", "33", "32"};
  return "\x1b[" + std::string(kCodes[static_cast<std::size_t>(ink)]) + "m" + std::string(text) +
         "\x1b[0m";
}

}  // namespace teller::report_detail
