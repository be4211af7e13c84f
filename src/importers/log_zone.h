// Time zones of log files: what a local time without a zone means.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "teller/result.h"

namespace teller {

class LogZone {
 public:
  // "UTC", "+02:00", "-0530", or a name of the time zone database ("Europe/Berlin"), which knows
  // when clocks are changed. kUsage for what is neither.
  static Result<LogZone> parse(const std::string& text);

  const std::string& name() const { return name_; }
  // Seconds east of UTC at a Unix time.
  std::int64_t offset_at(std::int64_t unix_s) const;

  struct Instant {
    std::int64_t unix_s = 0;
    bool doubtful = false;  // the clock showed this time twice, or never
  };
  // The Unix time at which a clock of the zone shows `local_s` (seconds of its own time since
  // 1970). Of two the first that is not before `not_before_s`, give or take a minute; a time that
  // was skipped is taken with the offset before the change.
  Instant unix_of(std::int64_t local_s, std::int64_t not_before_s) const;

 private:
  std::string name_;
  std::int64_t fixed_s_ = 0;
  bool named_ = false;
  mutable std::map<std::int64_t, std::int64_t> known_;  // quarter of an hour -> offset
};

}  // namespace teller
