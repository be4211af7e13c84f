#include "report/terminal.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "base/utf8.h"

namespace teller::report_detail {
namespace {

bool is_continuation(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

}  // namespace

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
