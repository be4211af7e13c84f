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
                           "1 x", "", "2026-01-01", "99999999999999.0"}) {
    std::string_view rest = text;
    EXPECT_FALSE(take_stamp(rest)) << text;
    EXPECT_EQ(rest, text);
  }
  EXPECT_EQ(run_ns("plain", 0), std::nullopt);
}

// Each is read as a stamp, so that the rest of its line is found, and is no time.
TEST(LogStamp, TimesThatNeverWereAreImpossible) {
  for (const char* text : {"2026-02-30 00:00:00",
                           "2026-04-31 00:00:00",
                           "2026-02-29 00:00:00",
                           "2100-02-29 00:00:00",
                           "2024-06-31T10:00:00Z",
                           "2026-01-01 24:00:00",
                           "2026-01-01 24:00:01",
                           "2026-01-01 23:59:60",
                           "2016-12-31T23:59:60Z",
                           "2026-01-01 10:00:61",
                           "02-30 10:00:00",
                           "11-31 10:00",
                           "09/31/2026-10:00:00",
                           "02/29/2026 10:00:00",
                           "Mon Feb 30 10:00:00 2026",
                           "Feb 29 10:00:00 2026",
                           "Feb 30 10:00:00",
                           "24:00:00",
                           "10:00:60",
                           "2026-01-01T00:00:00+14:01",
                           "2026-01-01T00:00:00-15:00",
                           "2026-01-01T00:00:00+01:60"}) {
    std::string_view rest = text;
    const auto stamp = take_stamp(rest);
    ASSERT_TRUE(stamp) << text;
    EXPECT_EQ(stamp->clock, StampClock::kImpossible) << text;
    EXPECT_EQ(rest, "") << text;
    EXPECT_EQ(resolve_stamp(*stamp, kClocks, 0), std::nullopt) << text;
  }
  for (const char* text :
       {"2024-02-29 23:59:59", "2000-02-29 00:00:00", "12-31 00:00", "02-29 00:00",
        "Feb 29 10:00:00 2024", "2026-01-01T00:00:00+14:00", "23:59:59"}) {
    std::string_view rest = text;
    const auto stamp = take_stamp(rest);
    ASSERT_TRUE(stamp) << text;
    EXPECT_NE(stamp->clock, StampClock::kImpossible) << text;
  }
  for (const char* text : {"230 10:00:00", "0431 10:00:00", "101 24:00:00", "101 10:00:60.5"}) {
    std::string_view rest = text;
    const auto stamp = take_glog_stamp(rest);
    ASSERT_TRUE(stamp) << text;
    EXPECT_EQ(stamp->clock, StampClock::kImpossible) << text;
  }
}

TEST(LogStamp, YearsThatNoTimeHasAreReadAndSaid) {
  for (const char* text :
       {"1969-12-31 23:59:59", "2201-01-01T00:00:00Z", "2262-04-12 00:00:00.5",
        "9999-01-01 00:00:00", "0001-01-01 00:00:00", "2300-01-01 10:00:00+01:00",
        "01/01/1969 10:00:00", "06/24/2300-15:44:20", "Fri Mar  3 04:44:24 1969"}) {
    std::string_view rest = text;
    const auto stamp = take_stamp(rest);
    ASSERT_TRUE(stamp) << text;
    EXPECT_EQ(stamp->clock, StampClock::kOutOfRange) << text;
    EXPECT_EQ(rest, "") << text;
    EXPECT_EQ(resolve_stamp(*stamp, kClocks, 0), std::nullopt) << text;
  }
  std::string_view host = "Feb 14 05:03:41 1234 kernel: x";
  EXPECT_EQ(take_stamp(host)->clock, StampClock::kLocal);
  EXPECT_EQ(host, " 1234 kernel: x");
  std::string_view never = "1969-02-30 10:00:00";
  EXPECT_EQ(take_stamp(never)->clock, StampClock::kImpossible);
}

TEST(LogStamp, ALineWithAnImpossibleTimeKeepsItsFormat) {
  const LogFields fields = parse_line("INFO 02-30 21:44:40 [core.py:349] up");
  EXPECT_EQ(fields.format, LogFormat::kVllm);
  EXPECT_EQ(fields.source, "core.py:349");
  EXPECT_EQ(fields.message, "up");
  EXPECT_EQ(parse_line("[2026-02-29 08:04:41 TP3] x").ranks.tp, 3);
  EXPECT_EQ(parse_line("[Mon Feb 30 04:44:24 2026] NVRM: Xid x").format, LogFormat::kKernel);
}

TEST(LogStamp, TheYearOfALeapDayMustHaveOne) {
  LogClocks clocks = kClocks;
  clocks.zone_s = 0;
  const char* line = "INFO 02-29 00:00:00 [a.py:1] x";
  // Of 2026, which has none, nor have the years beside it.
  EXPECT_EQ(run_ns(line, 50 * 86'400 * kSecond, clocks), std::nullopt);
  constexpr std::int64_t kLeap = 789 * 86'400;  // 2028-02-29
  EXPECT_EQ(run_ns(line, kLeap * kSecond, clocks), kLeap * kSecond);
  // From the year before to the year behind; near 28 February of those, too.
  for (const int days : {-424, -364, 100, 300, 366, 671}) {
    EXPECT_EQ(run_ns(line, (kLeap + days * 86'400) * kSecond, clocks), kLeap * kSecond) << days;
  }
  for (const int days : {-425, 672}) {
    EXPECT_EQ(run_ns(line, (kLeap + days * 86'400) * kSecond, clocks), std::nullopt) << days;
  }
}

}  // namespace
}  // namespace teller
