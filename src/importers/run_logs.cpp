#include "importers/run_logs.h"

#include "importers/source_names.h"

namespace teller {

Status RunLogs::read_files(const std::vector<std::string>& paths, const RunTimes& times) {
  std::vector<InputFile> files;
  for (const std::string& path : paths) files.push_back({path, path});
  const std::vector<std::string> names = source_names(files);
  TELLER_CHECK_OK(check_zones(zones_, paths, names));
  for (std::size_t i = 0; i < paths.size(); ++i) {
    TELLER_CHECK_OK(read_file(paths[i], names[i], times));
  }
  return writer_.flush();
}

Status RunLogs::read_file(const std::string& path, const std::string& name, const RunTimes& times) {
  LogPlacer placer(zone_of(zones_, path, name), times);
  const auto use = [&](LogLine& line) {
    placer.place(line);
    return writer_.add(line);
  };
  TELLER_TRY(const LogFileRead read, read_log_file(path, name, stop_, use));
  LogFileSummary summary = placer.summary();
  summary.name = name;
  if (!read.behind.empty()) notes_.push_back(name + ": " + read.behind);
  // Of programs that said nothing all logs are the same.
  const auto [seen, is_new] = digests_.emplace(read.digest, path);
  if (!is_new && summary.lines > 0) {
    return Error{ErrorCode::kUsage, "importing " + path + ": it holds the same as " + seen->second,
                 "give each log once"};
  }
  summaries_.push_back(std::move(summary));
  return {};
}

}  // namespace teller
