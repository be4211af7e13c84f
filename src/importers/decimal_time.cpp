#include "importers/decimal_time.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

namespace teller {

namespace {

constexpr std::int64_t kNsDigits = 3;  // 1 µs = 10^3 ns
// Exponents beyond this decide the result by themselves (0 or too large), whatever the digits.
constexpr std::int64_t kExponentLimit = 1'000'000'000;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// The pieces of a decimal number: digits with the point taken out, and where the point was.
struct Decimal {
  bool negative = false;
  std::string_view whole;
  std::string_view fraction;
  std::int64_t exponent = 0;

  std::size_t digits() const { return whole.size() + fraction.size(); }
  int digit(std::size_t i) const {
    return (i < whole.size() ? whole[i] : fraction[i - whole.size()]) - '0';
  }
};

std::string_view take_digits(std::string_view& text) {
  std::size_t n = 0;
  while (n < text.size() && is_digit(text[n])) ++n;
  const std::string_view digits = text.substr(0, n);
  text.remove_prefix(n);
  return digits;
}

bool take_sign(std::string_view& text) {
  if (text.empty() || (text[0] != '-' && text[0] != '+')) return false;
  const bool negative = text[0] == '-';
  text.remove_prefix(1);
  return negative;
}

bool take_exponent(std::string_view& text, std::int64_t& exponent) {
  if (text.empty() || (text[0] != 'e' && text[0] != 'E')) return true;
  text.remove_prefix(1);
  const bool negative = take_sign(text);
  const std::string_view digits = take_digits(text);
  if (digits.empty()) return false;
  for (char c : digits) exponent = std::min(exponent * 10 + (c - '0'), kExponentLimit);
  if (negative) exponent = -exponent;
  return true;
}

std::optional<Decimal> split(std::string_view text) {
  Decimal number;
  number.negative = take_sign(text);
  number.whole = take_digits(text);
  if (!text.empty() && text[0] == '.') {
    text.remove_prefix(1);
    number.fraction = take_digits(text);
  }
  if (number.digits() == 0) return std::nullopt;
  if (!take_exponent(text, number.exponent) || !text.empty()) return std::nullopt;
  return number;
}

// The number that `count` (0 to 16) digits stand for, eight at a time; false if not all are digits.
bool read_digits(const char* digits, std::size_t count, std::uint64_t& value) {
  value = 0;
  for (; count >= 8; count -= 8, digits += 8) {
    std::uint64_t chunk = 0;
    std::memcpy(&chunk, digits, sizeof chunk);
    constexpr std::uint64_t kHigh = 0xf0f0f0f0f0f0f0f0;
    const std::uint64_t carried = (chunk + 0x0606060606060606) & kHigh;
    if (((chunk & kHigh) | (carried >> 4)) != 0x3333333333333333) return false;
    // Pairs of digits, then pairs of pairs, then both halves.
    chunk = (chunk & 0x0f0f0f0f0f0f0f0f) * 2561 >> 8;
    chunk = (chunk & 0x00ff00ff00ff00ff) * 6553601 >> 16;
    chunk = (chunk & 0x0000ffff0000ffff) * 42949672960001 >> 32;
    value = value * 100'000'000 + chunk;
  }
  for (; count > 0; --count, ++digits) {
    if (!is_digit(*digits)) return false;
    value = value * 10 + static_cast<std::uint64_t>(*digits - '0');
  }
  return true;
}

// Times as nearly all profilers write them: at most 16 digits, or those and three decimals.
bool read_usual(std::string_view text, std::int64_t& ns) {
  static_assert(std::endian::native == std::endian::little);
  constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max() / 1000 - 1;
  const bool decimals = text.size() > 4 && text[text.size() - 4] == '.';
  const std::size_t whole = decimals ? text.size() - 4 : text.size();
  std::uint64_t us = 0;
  std::uint64_t rest = 0;
  if (whole == 0 || whole > 16 || !read_digits(text.data(), whole, us) || us > kMost) return false;
  if (decimals && !read_digits(text.data() + whole + 1, 3, rest)) return false;
  ns = static_cast<std::int64_t>(us * 1000 + rest);
  return true;
}

}  // namespace

std::optional<std::int64_t> decimal_us_to_ns(std::string_view text) {
  if (std::int64_t usual = 0; read_usual(text, usual)) return usual;
  const auto number = split(text);
  if (!number) return std::nullopt;
  // The first `wanted` digits are the whole nanoseconds; the rest is below one and cut off.
  const std::int64_t wanted =
      static_cast<std::int64_t>(number->whole.size()) + number->exponent + kNsDigits;
  const auto have = static_cast<std::int64_t>(number->digits());
  constexpr std::uint64_t kMax = std::numeric_limits<std::int64_t>::max();
  std::uint64_t value = 0;
  for (std::int64_t i = 0; i < std::min(wanted, have); ++i) {
    const auto digit = static_cast<std::uint64_t>(number->digit(static_cast<std::size_t>(i)));
    if (value > (kMax - digit) / 10) return std::nullopt;
    value = value * 10 + digit;
  }
  for (std::int64_t i = have; i < wanted && value != 0; ++i) {
    if (value > kMax / 10) return std::nullopt;
    value *= 10;
  }
  const auto ns = static_cast<std::int64_t>(value);
  return number->negative ? -ns : ns;
}

}  // namespace teller
