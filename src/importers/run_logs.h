// The log lines of a run that is imported: those that traces carry, and those of log files.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "importers/input_list.h"
#include "importers/log_lines.h"
#include "importers/log_places.h"
#include "importers/log_writer.h"
#include "importers/log_zones.h"
#include "teller/result.h"

namespace teller {

class RunLogs {
 public:
  // Lines go to the file `path`.
  RunLogs(std::string path, LogZones zones, const std::atomic<bool>* stop)
      : writer_(std::move(path)), zones_(std::move(zones)), stop_(stop) {}

  // Lines that are not of a file: their times are known.
  LogWriter& writer() { return writer_; }
  // Reads `files` in order and puts their lines on the run's clock. One that was found and can't
  // be read is skipped, and said in `list`, as is what was passed over.
  Status read_files(const std::vector<InputFile>& files, const RunTimes& times, InputList& list);

  std::vector<LogFileSummary>& summaries() { return summaries_; }

 private:
  Status read_file(const InputFile& file, const std::string& name, const RunTimes& times,
                   InputList& list);

  LogWriter writer_;
  LogZones zones_;
  const std::atomic<bool>* stop_;
  std::vector<LogFileSummary> summaries_;
};

}  // namespace teller
