// Four clocks become times of the run, where that can be told.
#include "logs/stamp.h"

#include <gtest/gtest.h>

#include "logs/line.h"

namespace teller {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
// 2026-01-01 00:00:10 UTC is second 10 of the run's clock.
constexpr std::int64_t kNewYear = 1'767'225'600;
const LogClocks kClocks{3600, kNewYear* kSecond, true};

std::optional<std::int64_t> run_ns(const char* text, std::optional<std::int64_t> arrival,
                                   const LogClocks& clocks = kClocks) {
  return resolve_stamp(parse_line(text).stamp, clocks, arrival);
}

TEST(LogStamp, LocalTimesNeedTheZone) {
  const char* line = "[2026-01-01 01:00:10 TP0] x";
  EXPECT_EQ(run_ns(line, std::nullopt), 10 * kSecond);
  LogClocks no_zone = kClocks;
  no_zone.zone_s.reset();
  EXPECT_EQ(run_ns(line, 0, no_zone), std::nullopt);
  LogClocks no_unix = kClocks;
  no_unix.unix_offset_ns.reset();
  EXPECT_EQ(run_ns(line, 0, no_unix), std::nullopt);
}

TEST(LogStamp, TheYearComesFromTheArrival) {
  EXPECT_EQ(run_ns("INFO 01-01 01:00:10 [a.py:1] x", 11 * kSecond), 10 * kSecond);
  EXPECT_EQ(run_ns("INFO 01-01 01:00:10 [a.py:1] x", std::nullopt), std::nullopt);
  // Written before midnight, arrived after it.
  EXPECT_EQ(run_ns("INFO 12-31 23:59:59 [a.py:1] x", -3599 * kSecond), -3601 * kSecond);
  EXPECT_EQ(run_ns("[E101 01:00:10.5 a.cpp:1] x", 11 * kSecond), 10 * kSecond + kSecond / 2);
  EXPECT_EQ(run_ns("[00:59:59 TP0] x", 3 * kSecond), -kSecond);
}

TEST(LogStamp, StatedZonesNeedNothingOfTheHost) {
  LogClocks no_zone = kClocks;
  no_zone.zone_s.reset();
  EXPECT_EQ(run_ns("kern: info: [2026-01-01T00:00:07.25Z]: NVRM: x", std::nullopt, no_zone),
            7 * kSecond + kSecond / 4);
  EXPECT_EQ(run_ns("[2026-01-01 02:00:07 +0200] [1] [INFO] x", std::nullopt, no_zone), 7 * kSecond);
}

TEST(LogStamp, NumbersCountFromBootOrFrom1970) {
  EXPECT_EQ(run_ns("[ 1843.308145] NVRM: x", std::nullopt), 1'843'308'145'000);
  LogClocks other = kClocks;
  other.run_is_monotonic = false;
  EXPECT_EQ(run_ns("[ 1843.308145] NVRM: x", std::nullopt, other), std::nullopt);
  EXPECT_EQ(run_ns("[1767225603.5] [h:1  :1]  a.c:1  UCX  ERROR x", std::nullopt),
            3 * kSecond + kSecond / 2);
  std::string_view milliseconds = "1767225603500.25";
  const auto stamp = take_stamp(milliseconds);
  ASSERT_TRUE(stamp);
  EXPECT_EQ(resolve_stamp(*stamp, kClocks, std::nullopt), 3 * kSecond + 500'250'000);
}

TEST(LogStamp, WhatIsNoTimeIsLeft) {
  for (const char* text : {"12.5.1 x", "13-01 00:00:00 x", "2026-13-01 00:00:00", "25:00:00 x",
                           "9999-01-01 00:00:00", "1 x", "", "2026-01-01", "99999999999999.0"}) {
    std::string_view rest = text;
    EXPECT_FALSE(take_stamp(rest)) << text;
    EXPECT_EQ(rest, text);
  }
  EXPECT_EQ(run_ns("plain", 0), std::nullopt);
}

}  // namespace
}  // namespace teller
