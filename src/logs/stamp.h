// Times as log lines write them, and what they mean on a run's clock.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace teller {

// What the time of a line counts from.
enum class StampClock : std::uint8_t {
  kNone,        // the line has no time
  kLocal,       // a date and a time of the host's time zone
  kZoned,       // the same with a stated zone (UTC and others)
  kMonotonic,   // seconds since boot (the kernel)
  kUnix,        // seconds or milliseconds since 1970
  kImpossible,  // written like a date and a time, but never was: 30 February, 24:00:00
  kOutOfRange,  // of a year before 1970 or after 2200
};

// A time as written. Parts that it lacks are -1.
struct LogStamp {
  StampClock clock = StampClock::kNone;
  std::int32_t year = -1;
  std::int32_t month = -1;  // 1 to 12
  std::int32_t day = -1;    // 1 to 31
  std::int64_t ns = 0;      // of the day; for kMonotonic and kUnix since their beginning
  std::int32_t zone_s = 0;  // kZoned: east of UTC
};

// What is known about the clocks of the host that wrote the lines.
struct LogClocks {
  std::optional<std::int32_t> zone_s;          // its time zone, seconds east of UTC
  std::optional<std::int64_t> unix_offset_ns;  // a time of the run's clock + this = Unix time
  bool run_is_monotonic = false;               // the run's clock is the host's CLOCK_MONOTONIC
};

// Reads a time at the front of `text`, without brackets, and takes it off. Knows `MM-DD
// HH:MM[:SS]`, `YYYY-MM-DD HH:MM:SS` (or T), `MM/DD/YYYY-HH:MM:SS`, `Fri Mar  3 04:44:24 2023`,
// `Feb 14 05:03:41`, `HH:MM:SS`, each with an optional fraction, zones behind them (Z, +hh:mm), and
// numbers with a point (since boot, or since 1970). Nothing, and `text` unchanged, if there is
// none. A leap second (23:59:60) is kImpossible: Unix time does not have it.
std::optional<LogStamp> take_stamp(std::string_view& text);
// Reads `410 14:46:34.629385703` of glog: month without or with a leading zero, day, time.
std::optional<LogStamp> take_glog_stamp(std::string_view& text);

// Whether the calendar has that day; 29 February of an unknown year (-1) counts as one.
bool is_calendar_day(std::int64_t year, std::int64_t month, std::int64_t day);

// The time on the run's clock in nanoseconds, where it can be told honestly: a missing year or date
// is the one that brings the time nearest to `arrival_ns` (the run's clock); without that, or
// without the time zone of a local time, or where neither that year nor those beside it have such a
// day, nothing.
std::optional<std::int64_t> resolve_stamp(const LogStamp& stamp, const LogClocks& clocks,
                                          std::optional<std::int64_t> arrival_ns);

}  // namespace teller
