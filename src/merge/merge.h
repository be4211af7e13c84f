// Brings the runs of one job, recorded on several hosts or in several pieces, into one run folder:
// `teller merge`.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "teller/result.h"

namespace teller {

struct MergeOptions {
  std::vector<std::string> runs;  // at least one
  std::string output;
  bool overwrite = false;
  const std::atomic<bool>* stop =
      nullptr;  // set it to be stopped: kInterrupted, and nothing is left
};

struct MergeSummary {
  std::uint64_t runs = 0;
  std::uint64_t event_files = 0;
  std::uint64_t log_lines = 0;
  std::uint64_t processes = 0;
  std::uint64_t context_records = 0;
  std::uint64_t malformed_lines = 0;     // of all three: no JSON objects; left out
  std::uint64_t times_out_of_range = 0;  // set to null
  std::vector<std::string>
      no_clock;  // runs whose clock is not known: their times are kept as they are
  std::vector<std::string>
      unfinished;                    // runs that are still being recorded, or whose recorder died
  std::vector<std::string> damaged;  // event files that are not whole, and why
};

// Event files are copied as they are: each says its own clock, host and rank. Times of log lines
// and processes are put on the clock of the first run that has one, as far as the hosts' own clocks
// agree. The run is built beside its place and appears there whole, or not at all.
Result<MergeSummary> merge(const MergeOptions& options);

}  // namespace teller
