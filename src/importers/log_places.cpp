#include "importers/log_places.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/saturate.h"
#include "logs/line.h"

namespace teller {

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kDay = 86'400 * kSecond;

struct Words {
  const char* key;
  const char* words;
};
constexpr Words kWords[kLogPlaces] = {
    {"stated_zone", "by the zone that they state"},
    {"unix_time", "by their Unix time"},
    {"given_zone", "by the zone that was given"},
    {"no_zone", "local times, and no zone was given (--log-timezone)"},
    {"no_year", "lack year or date, and no trace is on Unix time"},
    {"out_of_range", "lie before 1970, after 2200 or beyond what 64 bits of nanoseconds hold"},
    {"since_boot", "count from a host's boot"},
    {"no_clock", "no trace of the run is on Unix time"},
    {"no_such_time", "state a time that never was (30 February, 24:00:00, second 60)"},
    {"no_time", "state no time"}};

}  // namespace

const char* log_place_key(LogPlace place) {
  return kWords[static_cast<std::size_t>(place)].key;
}

const char* log_place_words(LogPlace place) {
  return kWords[static_cast<std::size_t>(place)].words;
}

std::uint64_t LogFileSummary::placed() const {
  std::uint64_t sum = 0;
  for (const LogPlace place : {LogPlace::kStatedZone, LogPlace::kUnixTime, LogPlace::kGivenZone}) {
    sum += by_place[static_cast<std::size_t>(place)];
  }
  return sum;
}

nlohmann::ordered_json LogFileSummary::to_json() const {
  nlohmann::ordered_json json = {{"file", name}, {"lines", lines}, {"placed", placed()}};
  json["timezone"] = zone.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(zone);
  json["by"] = nlohmann::ordered_json::object();
  for (std::size_t i = 0; i < kLogPlaces; ++i) {
    if (by_place[i] > 0) json["by"][kWords[i].key] = by_place[i];
  }
  json["years_taken"] = years_taken;
  json["doubtful"] = doubtful;
  return json;
}

std::string LogFileSummary::words() const {
  std::string by;
  std::string not_placed;
  for (std::size_t i = 0; i < kLogPlaces; ++i) {
    if (by_place[i] == 0) continue;
    std::string& list = i < static_cast<std::size_t>(LogPlace::kNoZone) ? by : not_placed;
    list += (list.empty() ? "" : ", ") + std::to_string(by_place[i]) + " " + kWords[i].words;
  }
  std::string text =
      std::to_string(placed()) + " of " + std::to_string(lines) + " lines placed in time";
  if (!by.empty()) text += ": " + by;
  if (!not_placed.empty()) text += "; not placed: " + not_placed;
  if (years_taken > 0) {
    text += "; the year or date of " + std::to_string(years_taken) + " was taken from the traces";
  }
  if (doubtful > 0) text += "; " + std::to_string(doubtful) + " fall into a change of clocks";
  return text;
}

LogPlacer::LogPlacer(std::optional<LogZone> zone, const RunTimes& run)
    : zone_(std::move(zone)),
      run_(run),
      near_unix_ns_(run.middle_unix_ns),
      last_unix_ns_(std::numeric_limits<std::int64_t>::min()) {
  if (zone_) summary_.zone = zone_->name();
}

void LogPlacer::place(LogLine& line) {
  const LogPlace place = placed(line);
  line.placed_by = log_place_key(place);
  ++summary_.lines;
  ++summary_.by_place[static_cast<std::size_t>(place)];
}

bool LogPlacer::may_lack_year() const {
  return near_unix_ns_ && *near_unix_ns_ >= kDay;
}

LogPlace LogPlacer::placed(LogLine& line) {
  if (line.cont) return LogPlace::kNoTime;  // what looks like a time is somewhere in a line
  const LogStamp stamp = parse_line(line.text).stamp;
  if (stamp.clock == StampClock::kNone) return LogPlace::kNoTime;
  if (stamp.clock == StampClock::kImpossible) return LogPlace::kNoSuchTime;
  if (stamp.clock == StampClock::kOutOfRange) return LogPlace::kOutOfRange;
  if (stamp.clock == StampClock::kMonotonic) return LogPlace::kSinceBoot;
  if (stamp.clock == StampClock::kLocal && !zone_) return LogPlace::kNoZone;
  if (!run_.unix_offset_ns) return LogPlace::kNoClock;
  bool doubtful = false;
  const auto unix_ns = unix_of(stamp, doubtful);
  std::int64_t time = 0;
  if (!unix_ns && stamp.year < 0 && stamp.clock != StampClock::kUnix && !may_lack_year()) {
    return LogPlace::kNoYear;
  }
  // Of a year that was found for it, and which has none.
  const bool leap_day = stamp.year < 0 && stamp.month == 2 && stamp.day == 29;
  if (!unix_ns && leap_day) return LogPlace::kNoSuchTime;
  if (!unix_ns || __builtin_sub_overflow(*unix_ns, *run_.unix_offset_ns, &time)) {
    return LogPlace::kOutOfRange;
  }
  line.t_ns = time;
  // One line out of order must not move those behind it; one that is a day back begins anew.
  const bool anew = saturating_sub(last_unix_ns_, *unix_ns) > kDay;
  last_unix_ns_ = anew ? *unix_ns : std::max(last_unix_ns_, *unix_ns);
  near_unix_ns_ = *unix_ns;
  if (stamp.clock != StampClock::kUnix && stamp.year < 0) ++summary_.years_taken;
  if (doubtful) ++summary_.doubtful;
  if (stamp.clock == StampClock::kUnix) return LogPlace::kUnixTime;
  return stamp.clock == StampClock::kZoned ? LogPlace::kStatedZone : LogPlace::kGivenZone;
}

std::optional<std::int64_t> LogPlacer::unix_of(const LogStamp& stamp, bool& doubtful) const {
  LogClocks clocks;
  clocks.unix_offset_ns = 0;
  if (stamp.clock != StampClock::kLocal) return resolve_stamp(stamp, clocks, near_unix_ns_);
  // First what the clock on the wall shows, year and all, then when it did so.
  clocks.zone_s = 0;
  std::optional<std::int64_t> near_local = near_unix_ns_;
  if (near_local) {
    near_local = saturating_add(*near_local, zone_->offset_at(*near_local / kSecond) * kSecond);
  }
  const auto local = resolve_stamp(stamp, clocks, near_local);
  if (!local || *local < 0) return std::nullopt;
  const LogZone::Instant instant = zone_->unix_of(*local / kSecond, last_unix_ns_ / kSecond);
  std::int64_t unix_ns = 0;
  if (__builtin_mul_overflow(instant.unix_s, kSecond, &unix_ns) ||
      __builtin_add_overflow(unix_ns, *local % kSecond, &unix_ns)) {
    return std::nullopt;
  }
  doubtful = instant.doubtful;
  return unix_ns;
}

}  // namespace teller
