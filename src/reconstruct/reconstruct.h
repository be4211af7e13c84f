// The stage that turns the raw events and log lines of a run into call chains.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "run_folder/run_folder.h"
#include "teller/result.h"

namespace teller {

struct ReconstructOptions {
  // A log line that no step was in flight for is aligned to the nearest step within this time.
  std::int64_t log_window_ns = 10'000'000'000;
  // Files with roles of names, asked before the built-in ones; of several the last one first.
  std::vector<std::string> role_files;
};

struct ReconstructSummary {
  std::string json;  // reconstruct.json: balance, counters, coverage, notes
  std::string text;  // the same for people
};

// Reconstructs `run`: writes chains.tcol, reconstruct.json and roles.json, and records them as
// "chains" in the manifest. The same input gives the same bytes.
Result<ReconstructSummary> reconstruct(RunFolder& run, const ReconstructOptions& options);

}  // namespace teller
