#include "importers/log_places.h"

#include <gtest/gtest.h>

namespace teller {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kOctober = 1'729'990'800 * kSecond;  // 2024-10-27T01:00:00Z: 03:00 -> 02:00

std::vector<LogLine> lines_of(const std::vector<std::string>& texts) {
  std::vector<LogLine> lines;
  for (const std::string& text : texts) lines.emplace_back().text = text;
  return lines;
}

LogFileSummary place_lines(std::vector<LogLine>& lines, const LogZone& zone, const RunTimes& run) {
  LogPlacer placer(zone, run);
  for (LogLine& line : lines) placer.place(line);
  return placer.summary();
}

TEST(LogPlaces, DisorderInADoubledHourMovesNothing) {
  const auto zone = LogZone::parse("Europe/Berlin");
  if (!zone) GTEST_SKIP() << "no tzdata here";
  std::vector<LogLine> lines = lines_of(
      {"2024-10-27 01:59:58,000 - root - INFO - a", "2024-10-27 02:10:05,000 - root - INFO - b",
       "2024-10-27 02:10:04,900 - root - INFO - late", "2024-10-27 02:59:59,000 - root - INFO - c",
       "2024-10-27 02:59:00,000 - root - INFO - late", "2024-10-27 02:00:01,000 - root - INFO - d",
       "2024-10-27 02:00:00,900 - root - INFO - late", "2024-10-27 02:30:00,000 - root - INFO - e",
       "2024-10-27 02:59:58,000 - root - INFO - e", "2024-10-27 03:00:00,000 - root - INFO - f"});
  const LogFileSummary summary = place_lines(lines, zone.value(), {0, kOctober});
  std::vector<std::int64_t> minutes;
  for (const LogLine& line : lines) minutes.push_back((*line.t_ns - kOctober) / (6 * kSecond));
  EXPECT_EQ(minutes, (std::vector<std::int64_t>{-600, -499, -499, 0, -10, 0, 0, 300, 599, 600}));
  EXPECT_EQ(summary.doubtful, 8U);
}

TEST(LogPlaces, TimesAtTheEndsOfTheRangeSaySo) {
  const auto zone = LogZone::parse("-12:00");
  const auto place_of = [&](const std::string& text, const RunTimes& run) {
    std::vector<LogLine> lines = lines_of({text});
    const LogFileSummary summary = place_lines(lines, zone.value(), run);
    EXPECT_EQ(lines[0].t_ns.has_value(), summary.placed() == 1);
    return lines[0].placed_by;
  };
  const std::string dated = "2200-12-31 23:59:59,000 - root - INFO - x";
  const std::string undated = "INFO 12-31 23:59:58 [core.py:1] x";
  EXPECT_EQ(place_of(dated, {0, std::nullopt}), "given_zone");
  EXPECT_EQ(place_of(dated, {INT64_MIN, std::nullopt}), "out_of_range");
  EXPECT_EQ(place_of(undated, {0, kOctober}), "given_zone");
  EXPECT_EQ(place_of(undated, {INT64_MIN, kOctober}), "out_of_range");
  EXPECT_EQ(place_of(undated, {0, std::nullopt}), "no_year");
  EXPECT_EQ(place_of(undated, {0, INT64_MIN}), "no_year");
  EXPECT_EQ(place_of(undated, {0, INT64_MAX}), "out_of_range");
  for (const char* year : {"1969", "2201", "2262", "2300", "9999"}) {
    for (const char* line : {"-06-01 10:00:00,000 - root - INFO - x", "-06-01T10:00:00Z INFO x"}) {
      EXPECT_EQ(place_of(std::string(year) + line, {0, kOctober}), "out_of_range") << year << line;
    }
  }
}

TEST(LogPlaces, TimesThatNeverWereAreNoTimes) {
  const auto zone = LogZone::parse("UTC");
  const auto place_of = [&](const std::string& text) {
    std::vector<LogLine> lines = lines_of({text});
    const LogFileSummary summary = place_lines(lines, zone.value(), {0, kOctober});
    EXPECT_EQ(lines[0].t_ns.has_value(), summary.placed() == 1);
    return lines[0].placed_by;
  };
  EXPECT_EQ(place_of("2024-02-30 10:00:00,000 - root - INFO - x"), "no_such_time");
  EXPECT_EQ(place_of("2024-02-29 10:00:00,000 - root - INFO - x"), "given_zone");
  EXPECT_EQ(place_of("2024-02-29T24:00:00Z INFO x"), "no_such_time");
  EXPECT_EQ(place_of("INFO 02-28 10:00:00 [core.py:1] x"), "given_zone");
  // Of 2024: of the years around October 2024 no other has that day.
  EXPECT_EQ(place_of("INFO 02-29 10:00:00 [core.py:1] x"), "given_zone");
  LogLine rest;
  rest.text = "2024-02-01 10:00:00,000 - root - INFO - somewhere in a line";
  rest.cont = true;
  std::vector<LogLine> lines{rest};
  place_lines(lines, zone.value(), {0, kOctober});
  EXPECT_EQ(lines[0].placed_by, "no_time");
}

}  // namespace
}  // namespace teller
