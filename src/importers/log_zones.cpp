#include "importers/log_zones.h"

#include <algorithm>

namespace teller {

Result<LogZones> read_zones(const std::vector<std::string>& texts) {
  LogZones zones;
  for (const std::string& text : texts) {
    const std::size_t equals = text.rfind('=');
    const bool for_all = equals == std::string::npos;
    TELLER_TRY(LogZone zone, LogZone::parse(for_all ? text : text.substr(equals + 1)));
    const std::string log = for_all ? "" : text.substr(0, equals);
    if (!zones.emplace(log, std::move(zone)).second) {
      return Error{ErrorCode::kUsage, "--log-timezone " + text + ": another zone is given for it",
                   "give one for all logs, and one for each log that differs"};
    }
  }
  return zones;
}

Status check_zones(const LogZones& zones, const std::vector<std::string>& paths,
                   const std::vector<std::string>& names) {
  const auto has = [](const std::vector<std::string>& list, const std::string& log) {
    return std::find(list.begin(), list.end(), log) != list.end();
  };
  for (const auto& [log, zone] : zones) {
    if (log.empty() || has(paths, log) || has(names, log)) continue;
    return Error{ErrorCode::kUsage,
                 "--log-timezone " + log + "=" + zone.name() + ": no log of that name is given",
                 "name the log as it is given"};
  }
  return {};
}

std::optional<LogZone> zone_of(const LogZones& zones, const std::string& path,
                               const std::string& name) {
  for (const std::string& log : {path, name, std::string()}) {
    if (const auto found = zones.find(log); found != zones.end()) return found->second;
  }
  return std::nullopt;
}

}  // namespace teller
