#include "importers/decimal_time.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <string>

namespace teller {
namespace {

TEST(DecimalTime, ReadsWhatTracesWrite) {
  EXPECT_EQ(decimal_us_to_ns("1695835573040567"), 1695835573040567000);
  EXPECT_EQ(decimal_us_to_ns("4458676388068.751"), 4458676388068751);
  EXPECT_EQ(decimal_us_to_ns("0"), 0);
  EXPECT_EQ(decimal_us_to_ns("-0.5"), -500);
  EXPECT_EQ(decimal_us_to_ns("2.5e3"), 2500000);
  EXPECT_EQ(decimal_us_to_ns("25E-1"), 2500);
}

TEST(DecimalTime, CutsBelowOneNanosecondTowardZero) {
  EXPECT_EQ(decimal_us_to_ns("0.0009999"), 0);
  EXPECT_EQ(decimal_us_to_ns("1.9999999"), 1999);
  EXPECT_EQ(decimal_us_to_ns("-1.9999999"), -1999);
  EXPECT_EQ(decimal_us_to_ns("123e-30"), 0);
}

TEST(DecimalTime, RefusesWhatDoesNotFitOrIsNoNumber) {
  EXPECT_EQ(decimal_us_to_ns("9223372036854775.807"), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(decimal_us_to_ns("9223372036854775.808"), std::nullopt);
  EXPECT_EQ(decimal_us_to_ns("1e999999999999"), std::nullopt);
  EXPECT_EQ(decimal_us_to_ns("0e999999999999"), 0);
  for (const char* text : {"", "-", ".", "e5", "1e", "1e+", "1.2.3", "nan", "inf", "1 ", "0x10"}) {
    EXPECT_EQ(decimal_us_to_ns(text), std::nullopt) << text;
  }
}

// Any way to write a whole number of nanoseconds, with digits below added, reads back as it.
TEST(DecimalTime, EqualsExactArithmetic) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 200000; ++i) {
    const auto bits = static_cast<int>(random() % 63);
    const auto ns = static_cast<std::int64_t>(random() >> (63 - bits) >> 1);
    const bool negative = random() % 2 == 0;
    std::string digits = std::to_string(ns);
    digits.insert(0, random() % 4, '0');
    const auto below = random() % 5;
    std::string tail;
    for (std::uint64_t n = 0; n < below; ++n) tail += static_cast<char>('0' + random() % 10);
    // `digits` + `tail`, point anywhere, exponent making up for it.
    const std::string all = digits + tail;
    const auto point = static_cast<std::int64_t>(random() % (all.size() + 1));
    const std::int64_t exponent = static_cast<std::int64_t>(digits.size()) - 3 - point;
    std::string text = negative ? "-" : "";
    text += all.substr(0, point) + "." + all.substr(point);
    if (exponent != 0 || random() % 2 == 0) text += "e" + std::to_string(exponent);
    ASSERT_EQ(decimal_us_to_ns(text), negative ? -ns : ns) << text;
  }
}

}  // namespace
}  // namespace teller
