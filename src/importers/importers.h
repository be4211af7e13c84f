// teller import: makes a run folder from traces and logs that other tools wrote.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "importers/input_list.h"
#include "importers/log_places.h"
#include "importers/source_import.h"
#include "teller/result.h"

namespace teller {

struct ImportOptions {
  std::vector<std::string>
      inputs;  // traces and logs, told apart by what they hold; folders and tars of them
  std::vector<std::string> logs;  // log files besides those among `inputs`
  bool found_logs = true;         // take logs in folders and archives, too
  // Time zones of logs whose lines state none: "ZONE" for all, or "LOG=ZONE" for one of them.
  std::vector<std::string> log_zones;
  std::string output;            // the run folder to make
  bool overwrite = false;        // replace a run that is there
  bool allow_truncated = false;  // keep what is whole of a trace that stops early
  // Told which input, bytes done and bytes in all; may be empty.
  std::function<void(const std::string&, std::uint64_t, std::uint64_t)> progress;
  const std::atomic<bool>* stop = nullptr;  // set when the user asked to stop
};

struct ImportSummary {
  std::string run;
  std::vector<std::string> names;  // of the sources, without folder
  std::vector<std::string> files;  // their event files, relative to the run
  std::vector<SourceResult> sources;
  std::vector<LogFileSummary> logs;
  std::vector<ContainerCounts> containers;  // folders and archives
  std::vector<SkippedFile> skipped;         // of them: what is not in the run
  std::vector<std::string> notes;           // what was passed over besides, one line each
  std::uint64_t log_lines = 0;

  SourceLayers all_layers() const;
  std::uint64_t requests() const;  // that spans state
  nlohmann::ordered_json to_json() const;
};

// Reads all inputs into a new run. The run appears at its place only when it is whole: a failure
// leaves nothing behind, and a run that was to be replaced stays.
Result<ImportSummary> import_files(const ImportOptions& options);

}  // namespace teller
