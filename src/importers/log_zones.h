// The time zones that the user gave for log files.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "importers/log_zone.h"
#include "teller/result.h"

namespace teller {

// By what each is for: "" for all logs, else the path or the name of one.
using LogZones = std::map<std::string, LogZone>;

// "ZONE" for all logs, "LOG=ZONE" for one.
Result<LogZones> read_zones(const std::vector<std::string>& texts);
// That each is for a log that is there; `names` are those of `paths`.
Status check_zones(const LogZones& zones, const std::vector<std::string>& paths,
                   const std::vector<std::string>& names);
// The zone of one log, its own before that of all; nothing if none was given.
std::optional<LogZone> zone_of(const LogZones& zones, const std::string& path,
                               const std::string& name);

}  // namespace teller
