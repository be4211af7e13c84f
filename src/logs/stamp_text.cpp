// Times as log lines write them.
#include "logs/stamp.h"
#include "logs/text.h"

namespace teller {

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
// Below this a number with a point counts seconds since boot (30 years), above it since 1970.
constexpr std::int64_t kFirstUnixSecond = 1'000'000'000;
constexpr std::int64_t kFirstUnixMillisecond = 1'000'000'000'000;
constexpr std::int64_t kLastUnixMillisecond = 4'000'000'000'000;
// Nanoseconds since 1970 hold none before it, and few later ones.
constexpr std::int64_t kFirstYear = 1970;
constexpr std::int64_t kLastYear = 2200;
constexpr std::int64_t kFarthestZone = 14 * 3600;  // from UTC, in seconds

// ".629385703", ",101": nanoseconds; 0 if there is none.
std::int64_t take_fraction(Cursor& cursor) {
  Cursor tried = cursor;
  if (!tried.take(".") && !tried.take(",")) return 0;
  std::int64_t value = 0;
  std::size_t count = 0;
  for (; is_digit(tried.peek()); ++count) {
    const std::int64_t digit = *tried.digits(1, 1);
    if (count < 9) value = value * 10 + digit;
  }
  if (count == 0) return 0;
  for (; count < 9; ++count) value *= 10;
  cursor = tried;
  return value;
}

// What a line says in place of a time of the day.
constexpr std::int64_t kImpossibleTime = -1;

// "14:46:34.6", "23:14": nanoseconds of the day, or kImpossibleTime for 24 o'clock and for leap
// seconds, which Unix time does not have.
std::optional<std::int64_t> take_clock_time(Cursor& cursor, bool seconds_needed) {
  Cursor tried = cursor;
  const auto hour = tried.digits(2, 2);
  if (!hour || *hour > 24 || !tried.take(":")) return std::nullopt;
  const auto minute = tried.digits(2, 2);
  if (!minute || *minute > 59) return std::nullopt;
  std::int64_t ns = (*hour * 60 + *minute) * 60 * kSecond;
  bool possible = *hour < 24;
  Cursor with_seconds = tried;
  const auto second = with_seconds.take(":") ? with_seconds.digits(2, 2) : std::nullopt;
  if (second && *second <= 61) {
    possible = possible && *second < 60;
    ns += *second * kSecond + take_fraction(with_seconds);
    tried = with_seconds;
  } else if (seconds_needed) {
    return std::nullopt;
  }
  if (is_digit(tried.peek())) return std::nullopt;
  cursor = tried;
  return possible ? ns : kImpossibleTime;
}

// Written like a date; whether there was such a day, local_stamp() says.
bool is_date(std::int64_t month, std::int64_t day) {
  return month >= 1 && month <= 12 && day >= 1 && day <= 31;
}

LogStamp local_stamp(std::int64_t year, std::int64_t month, std::int64_t day, std::int64_t ns) {
  LogStamp stamp;
  const bool possible = ns != kImpossibleTime && (month < 0 || is_calendar_day(year, month, day));
  const bool in_range = year < 0 || (year >= kFirstYear && year <= kLastYear);
  stamp.clock = !possible  ? StampClock::kImpossible
                : in_range ? StampClock::kLocal
                           : StampClock::kOutOfRange;
  stamp.year = static_cast<std::int32_t>(year);
  stamp.month = static_cast<std::int32_t>(month);
  stamp.day = static_cast<std::int32_t>(day);
  stamp.ns = possible ? ns : 0;
  return stamp;
}

void set_zone(std::int64_t seconds, LogStamp& stamp) {
  if (stamp.clock == StampClock::kLocal) stamp.clock = StampClock::kZoned;
  stamp.zone_s = static_cast<std::int32_t>(seconds);
}

// "Z", " UTC", "+01:00", " +0000" behind a time.
void take_zone(Cursor& cursor, LogStamp& stamp) {
  Cursor tried = cursor;
  if (tried.take("Z") || tried.take(" UTC")) {
    if (is_word(tried.peek())) return;
    set_zone(0, stamp);
    cursor = tried;
    return;
  }
  const bool apart = tried.take(" ");
  const bool west = tried.peek() == '-';
  if (!tried.take("+") && !tried.take("-")) return;
  const auto hours = tried.digits(2, 2);
  if (!hours) return;
  tried.take(":");
  const auto minutes = tried.digits(2, 2);
  if (!minutes || is_word(tried.peek())) return;
  const std::int64_t seconds = *hours * 3600 + *minutes * 60;
  const bool possible = *minutes <= 59 && seconds <= kFarthestZone;
  if (!possible && apart) return;  // text
  set_zone(west ? -seconds : seconds, stamp);
  if (!possible) stamp.clock = StampClock::kImpossible;
  cursor = tried;
}

// "2024-03-15 12:39:26,101", "2025-04-21T23:31:09.07+00:00".
std::optional<LogStamp> iso_stamp(Cursor& cursor) {
  Cursor tried = cursor;
  const auto year = tried.digits(4, 4);
  if (!year || !tried.take("-")) return std::nullopt;
  const auto month = tried.digits(2, 2);
  if (!month || !tried.take("-")) return std::nullopt;
  const auto day = tried.digits(2, 2);
  if (!day || !is_date(*month, *day)) return std::nullopt;
  if (!tried.take("T") && !tried.take(" ")) return std::nullopt;
  const auto ns = take_clock_time(tried, true);
  if (!ns) return std::nullopt;
  LogStamp stamp = local_stamp(*year, *month, *day, *ns);
  take_zone(tried, stamp);
  cursor = tried;
  return stamp;
}

// "12-22 21:44:40" of vLLM, "11-03 23:14".
std::optional<LogStamp> month_day_stamp(Cursor& cursor) {
  Cursor tried = cursor;
  const auto month = tried.digits(2, 2);
  if (!month || !tried.take("-")) return std::nullopt;
  const auto day = tried.digits(2, 2);
  if (!day || !is_date(*month, *day) || !tried.take(" ")) return std::nullopt;
  const auto ns = take_clock_time(tried, false);
  if (!ns) return std::nullopt;
  cursor = tried;
  return local_stamp(-1, *month, *day, *ns);
}

// "06/24/2026-15:44:20", "03/15/2024 12:39:26".
std::optional<LogStamp> slash_stamp(Cursor& cursor) {
  Cursor tried = cursor;
  const auto month = tried.digits(2, 2);
  if (!month || !tried.take("/")) return std::nullopt;
  const auto day = tried.digits(2, 2);
  if (!day || !tried.take("/")) return std::nullopt;
  const auto year = tried.digits(4, 4);
  if (!year || !is_date(*month, *day)) return std::nullopt;
  if (!tried.take("-") && !tried.take(" ")) return std::nullopt;
  const auto ns = take_clock_time(tried, true);
  if (!ns) return std::nullopt;
  cursor = tried;
  return local_stamp(*year, *month, *day, *ns);
}

std::optional<std::int64_t> take_month_name(Cursor& cursor) {
  constexpr std::string_view kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                          "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  for (std::size_t i = 0; i < std::size(kMonths); ++i) {
    if (cursor.take(kMonths[i])) return static_cast<std::int64_t>(i) + 1;
  }
  return std::nullopt;
}

// "Fri Mar  3 04:44:24 2023" of dmesg -T, "Feb 14 05:03:41" of syslog.
std::optional<LogStamp> named_month_stamp(Cursor& cursor) {
  Cursor tried = cursor;
  bool weekday = false;
  for (const std::string_view day : {"Mon ", "Tue ", "Wed ", "Thu ", "Fri ", "Sat ", "Sun "}) {
    if (weekday = tried.take(day); weekday) break;
  }
  const auto month = take_month_name(tried);
  if (!month || !tried.take(" ")) return std::nullopt;
  tried.take(" ");
  const auto day = tried.digits(1, 2);
  if (!day || !is_date(*month, *day) || !tried.take(" ")) return std::nullopt;
  const auto ns = take_clock_time(tried, true);
  if (!ns) return std::nullopt;
  Cursor with_year = tried;
  const auto year = with_year.take(" ") ? with_year.digits(4, 4) : std::nullopt;
  // Behind "Feb 14 05:03:41" of syslog stands the name of a host, which may be a number.
  const bool in_range = year && *year >= kFirstYear && *year <= kLastYear;
  const bool dated = (in_range || (year && weekday)) && !is_word(with_year.peek());
  if (dated) tried = with_year;
  cursor = tried;
  return local_stamp(dated ? *year : -1, *month, *day, *ns);
}

// "  1843.308145" since boot, "1784621081.896649" since 1970, "1784621081896.6" in milliseconds.
std::optional<LogStamp> number_stamp(Cursor& cursor) {
  Cursor tried = cursor;
  tried.skip_blanks();
  const auto whole = tried.digits(1, 13);
  if (!whole || (tried.peek() != '.' && *whole < kFirstUnixMillisecond)) return std::nullopt;
  const std::int64_t fraction = take_fraction(tried);
  if (is_word(tried.peek()) || tried.peek() == '.') return std::nullopt;
  LogStamp stamp;
  stamp.clock = *whole < kFirstUnixSecond ? StampClock::kMonotonic : StampClock::kUnix;
  if (*whole >= kFirstUnixMillisecond) {
    if (*whole > kLastUnixMillisecond) return std::nullopt;
    stamp.ns = *whole * 1'000'000 + fraction / 1000;
  } else {
    if (*whole > kLastUnixMillisecond / 1000) return std::nullopt;
    stamp.ns = *whole * kSecond + fraction;
  }
  cursor = tried;
  return stamp;
}

std::optional<LogStamp> time_only_stamp(Cursor& cursor) {
  const auto ns = take_clock_time(cursor, true);
  if (!ns) return std::nullopt;
  return local_stamp(-1, -1, -1, *ns);
}

}  // namespace

std::optional<LogStamp> take_stamp(std::string_view& text) {
  for (const auto read : {iso_stamp, month_day_stamp, slash_stamp, named_month_stamp,
                          time_only_stamp, number_stamp}) {
    Cursor cursor(text);
    if (const auto stamp = read(cursor)) {
      text = cursor.rest();
      return stamp;
    }
  }
  return std::nullopt;
}

std::optional<LogStamp> take_glog_stamp(std::string_view& text) {
  std::size_t count = 0;
  while (count < text.size() && is_digit(text[count])) ++count;
  if (count != 3 && count != 4) return std::nullopt;
  Cursor cursor(text);
  const auto month = cursor.digits(count - 2, count - 2);
  const auto day = cursor.digits(2, 2);
  if (!month || !day || !is_date(*month, *day) || !cursor.take(" ")) return std::nullopt;
  const auto ns = take_clock_time(cursor, true);
  if (!ns) return std::nullopt;
  text = cursor.rest();
  return local_stamp(-1, *month, *day, *ns);
}

}  // namespace teller
