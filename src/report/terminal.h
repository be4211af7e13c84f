// Text for terminals: escaping, wrapping, colours, durations.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/terminal.h"
#include "report/report.h"

namespace teller::report_detail {

using teller::printable;

// Columns of printable text; a code point counts as one.
std::size_t columns(std::string_view text);
// Cuts to `width` columns, with "…" where something was cut.
std::string cut(std::string_view text, std::size_t width);
// Cuts or pads to exactly `width` columns.
std::string left(std::string_view text, std::size_t width);
std::string right(std::string_view text, std::size_t width);
// Breaks at blanks so that no line is wider than `width`; the first line begins with `first`, the
// others with as many blanks. Ends with a newline.
std::string wrap(std::string_view text, std::size_t width, std::string_view first);

// "850 ns", "12.3 us", "4.56 ms", "1.23 s".
std::string duration(std::int64_t ns);

enum class Ink { kPlain, kBold, kDim, kRed, kYellow, kGreen };
// `text` in that colour if the style has colours. Colour it after cutting and padding.
std::string paint(const TextStyle& style, Ink ink, std::string_view text);

}  // namespace teller::report_detail
