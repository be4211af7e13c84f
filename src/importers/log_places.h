// Puts the lines of a log file on the clock of the run that they are imported into.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "importers/log_zone.h"
#include "importers/source_import.h"
#include "logs/stamp.h"

namespace teller {

// How a line got its time, or why it has none; docs/logs.md.
enum class LogPlace : std::uint8_t {
  kStatedZone,  // the line states a zone
  kUnixTime,    // it counts since 1970
  kGivenZone,   // a local time, in the zone that the user gave
  kNoZone,      // a local time, and no zone was given
  kNoYear,      // it lacks year or date, and nothing on Unix time says which
  kOutOfRange,  // before 1970, or beyond what 64 bits of nanoseconds hold
  kSinceBoot,   // seconds since the host booted: of no known relation to other clocks
  kNoClock,     // no trace of the run is tied to Unix time
  kNoSuchTime,  // it states one that never was: 30 February, 24:00:00, second 60
  kNoTime,      // it states none (lines that go on with the one before among them)
};
inline constexpr std::size_t kLogPlaces = 10;
const char* log_place_key(LogPlace place);    // "stated_zone", …
const char* log_place_words(LogPlace place);  // for people

struct LogFileSummary {
  std::string name;
  std::string zone;  // that was given; "" if none
  std::uint64_t lines = 0;
  std::uint64_t by_place[kLogPlaces] = {};
  std::uint64_t years_taken = 0;  // placed lines whose year or date was taken from what is around
  std::uint64_t doubtful = 0;     // placed lines of an hour that a clock change doubled or skipped

  std::uint64_t placed() const;
  nlohmann::ordered_json to_json() const;
  // "12 of 13 lines placed in time: 12 by the zone that they state; 1 not: …".
  std::string words() const;
};

// What the traces of the run tell.
struct RunTimes {
  std::optional<std::int64_t> unix_offset_ns;  // a time of the run + this = Unix time
  std::optional<std::int64_t> middle_unix_ns;  // of its events
};

// Sets the times of the lines of one log from what they state, in order. A missing year or date is
// the one that brings a line nearest to the line placed before it, the first nearest to the traces:
// logs may run over midnight and over the end of a year.
class LogPlacer {
 public:
  LogPlacer(std::optional<LogZone> zone, const RunTimes& run);

  void place(LogLine& line);
  // Of the lines so far; without the log's name.
  const LogFileSummary& summary() const { return summary_; }

 private:
  LogPlace placed(LogLine& line);
  std::optional<std::int64_t> unix_of(const LogStamp& stamp, bool& doubtful) const;
  // Whether something says which year or date a line is of that states none.
  bool may_lack_year() const;

  std::optional<LogZone> zone_;
  RunTimes run_;
  LogFileSummary summary_;
  std::optional<std::int64_t> near_unix_ns_;  // where a line without a year is looked for
  std::int64_t last_unix_ns_;                 // of the latest line placed so far
};

}  // namespace teller
