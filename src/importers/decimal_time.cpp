#include "importers/decimal_time.h"

#include <algorithm>
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

}  // namespace

std::optional<std::int64_t> decimal_us_to_ns(std::string_view text) {
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
