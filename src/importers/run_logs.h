// The log lines of a run that is imported: those that traces carry, and those of log files.
#pragma once

#include <atomic>
#include <map>
#include <string>
#include <vector>

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
  // Reads the files at `paths` in order, each given once, and puts their lines on the run's clock.
  Status read_files(const std::vector<std::string>& paths, const RunTimes& times);

  std::vector<LogFileSummary>& summaries() { return summaries_; }
  // What was passed over, one line each.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  Status read_file(const std::string& path, const std::string& name, const RunTimes& times);

  LogWriter writer_;
  LogZones zones_;
  const std::atomic<bool>* stop_;
  std::vector<LogFileSummary> summaries_;
  std::vector<std::string> notes_;
  std::map<std::string, std::string> digests_;  // of the files -> path
};

}  // namespace teller
