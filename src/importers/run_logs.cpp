#include "importers/run_logs.h"

#include "importers/input_skips.h"
#include "importers/source_names.h"

namespace teller {

Status RunLogs::read_files(const std::vector<InputFile>& files, const RunTimes& times,
                           InputList& list) {
  std::vector<std::string> labels;
  for (const InputFile& file : files) labels.push_back(file.label);
  const std::vector<std::string> names = source_names(files);
  TELLER_CHECK_OK(check_zones(zones_, labels, names));
  for (std::size_t i = 0; i < files.size(); ++i) {
    const LogWriter::Mark before = writer_.mark();
    const Status done = read_file(files[i], names[i], times, list);
    if (done) continue;
    TELLER_CHECK_OK(skip_or_fail(files[i], done.error(), list));
    TELLER_CHECK_OK(writer_.take_back(before));
  }
  return writer_.flush();
}

Status RunLogs::read_file(const InputFile& file, const std::string& name, const RunTimes& times,
                          InputList& list) {
  LogPlacer placer(zone_of(zones_, file.label, name), times);
  const auto use = [&](LogLine& line) {
    placer.place(line);
    return writer_.add(line);
  };
  TELLER_TRY(const LogFileRead read, read_log_file(file.path, name, stop_, use));
  LogFileSummary summary = placer.summary();
  summary.name = name;
  if (!read.behind.empty()) list.notes.push_back(name + ": " + read.behind);
  summaries_.push_back(std::move(summary));
  return {};
}

}  // namespace teller
