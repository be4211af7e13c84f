// The clock of a run that is imported, found source by source.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>

#include "importers/log_places.h"
#include "importers/source_import.h"

namespace teller {

class RunTimeline {
 public:
  // What a source that was read says of time. The run's clock is the first one that is tied to Unix
  // time.
  void take(const SourceResult& source);
  // Brings the time of a log line that a source carries to the run's clock, which is that of the
  // source (`clock`, its META) if none was before. A time that can't be brought there is left out.
  void place(const nlohmann::ordered_json& clock, LogLine& line) const;

  // META "clock" of the run; null until a source has one.
  const nlohmann::ordered_json& clock() const { return clock_; }
  const RunTimes& times() const { return times_; }

 private:
  nlohmann::ordered_json clock_;
  RunTimes times_;
  bool first_ = true;  // no source was read yet
};

}  // namespace teller
