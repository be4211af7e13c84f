#include "logs/stamp.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <span>

namespace teller {

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kDay = 86'400 * kSecond;
// Behind the last year that a line may state (2200): no date near it leaves 64 bits.
constexpr std::int64_t kLastDay = 84'371;

// Days from 1970-01-01 to a date of the Gregorian calendar.
std::int64_t days_from_1970(std::int64_t year, std::int64_t month, std::int64_t day) {
  const std::int64_t y = month <= 2 ? year - 1 : year;
  const std::int64_t era = y / 400;
  const std::int64_t year_of_era = y - era * 400;
  const std::int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  const std::int64_t day_of_era =
      year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  return era * 146097 + day_of_era - 719468;
}

std::int64_t year_of_days(std::int64_t days) {
  std::int64_t year = 1970 + days / 366;
  while (days_from_1970(year + 1, 1, 1) <= days) ++year;
  return year;
}

// The one of `candidates` that is nearest to `wanted`; of two the earlier. There is one at least.
std::int64_t nearest(std::span<const std::int64_t> candidates, std::int64_t wanted) {
  return *std::min_element(candidates.begin(), candidates.end(),
                           [&](std::int64_t a, std::int64_t b) {
                             return std::llabs(a - wanted) < std::llabs(b - wanted);
                           });
}

// Unix time of a date and a time of day in `zone_s`; what is missing is taken from the arrival.
std::optional<std::int64_t> civil_unix(const LogStamp& stamp, std::int32_t zone_s,
                                       std::optional<std::int64_t> arrival_unix_ns) {
  const std::int64_t zone_ns = std::int64_t{zone_s} * kSecond;
  const auto unix_of = [&](std::int64_t days) { return days * kDay + stamp.ns - zone_ns; };
  if (stamp.year >= 0) return unix_of(days_from_1970(stamp.year, stamp.month, stamp.day));
  if (!arrival_unix_ns || *arrival_unix_ns < kDay || *arrival_unix_ns > kLastDay * kDay) {
    return std::nullopt;
  }
  const std::int64_t today = (*arrival_unix_ns + zone_ns) / kDay;
  if (stamp.month < 0) {
    const std::array days{unix_of(today - 1), unix_of(today), unix_of(today + 1)};
    return nearest(days, *arrival_unix_ns);
  }
  std::array<std::int64_t, 3> years{};
  std::size_t count = 0;
  const std::int64_t this_year = year_of_days(today);
  for (const int by : {-1, 0, 1}) {
    const std::int64_t year = this_year + by;
    if (!is_calendar_day(year, stamp.month, stamp.day)) continue;
    years[count++] = unix_of(days_from_1970(year, stamp.month, stamp.day));
  }
  if (count == 0) return std::nullopt;
  return nearest({years.data(), count}, *arrival_unix_ns);
}

}  // namespace

bool is_calendar_day(std::int64_t year, std::int64_t month, std::int64_t day) {
  constexpr std::int64_t kDays[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  if (month < 1 || month > 12 || day < 1 || day > kDays[month - 1]) return false;
  const bool leap = year < 0 || (year % 4 == 0 && (year % 100 != 0 || year % 400 == 0));
  return month != 2 || day != 29 || leap;
}

std::optional<std::int64_t> resolve_stamp(const LogStamp& stamp, const LogClocks& clocks,
                                          std::optional<std::int64_t> arrival_ns) {
  if (stamp.clock == StampClock::kNone) return std::nullopt;
  if (stamp.clock == StampClock::kMonotonic) {
    return clocks.run_is_monotonic ? std::optional(stamp.ns) : std::nullopt;
  }
  if (!clocks.unix_offset_ns) return std::nullopt;
  std::optional<std::int64_t> arrival_unix;
  std::int64_t sum = 0;
  if (arrival_ns && !__builtin_add_overflow(*arrival_ns, *clocks.unix_offset_ns, &sum)) {
    arrival_unix = sum;
  }
  std::optional<std::int64_t> unix_ns;
  if (stamp.clock == StampClock::kUnix) unix_ns = stamp.ns;
  if (stamp.clock == StampClock::kZoned) unix_ns = civil_unix(stamp, stamp.zone_s, arrival_unix);
  if (stamp.clock == StampClock::kLocal && clocks.zone_s) {
    unix_ns = civil_unix(stamp, *clocks.zone_s, arrival_unix);
  }
  std::int64_t on_run = 0;
  if (!unix_ns || __builtin_sub_overflow(*unix_ns, *clocks.unix_offset_ns, &on_run)) {
    return std::nullopt;
  }
  return on_run;
}

}  // namespace teller
