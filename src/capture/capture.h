// Runs a program and records it: `teller trace`. The only header of this folder that others
// include.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "teller/result.h"

namespace teller::capture {

// Exit codes of our own, as env(1) and timeout(1) have them; everything else is the program's.
inline constexpr int kExitTellerFailed = 125;
inline constexpr int kExitNotExecutable = 126;
inline constexpr int kExitNotFound = 127;

// What was captured reaches the run folder at least this often: what a SIGKILL of the recorder can
// cost.
inline constexpr int kFlushPeriodMs = 250;

struct CaptureOptions {
  std::vector<std::string> argv;        // the program and its arguments
  std::string output;                   // run folder; "" = runs/<program>-<time>
  bool overwrite = false;               // replace a run that is there
  std::vector<std::string> hook_files;  // further hook targets (docs/hooks.md)
  bool hooks = true;                    // load the Python hooks
  std::vector<std::string> log_files;   // files to follow
  bool preload = false;                 // LD_PRELOAD the collector into every process
  std::string cuda = "full";            // CUPTI: "full", "kernels" (no calls), "off"
  std::string cuda_graph = "graph";     // launches of graphs: as a whole, or each "node"
  bool split_output = false;            // two channels even where stdout and stderr are one file
  std::uint64_t max_bytes = 0;          // stop capturing at this size of the run; 0 = never
  double duration_s = 0;                // stop capturing after this time; 0 = never
  bool quiet = false;                   // nothing on stderr but errors before the program runs
  bool verbose = false;
};

// Runs the program to its end. Returns the exit code that teller should have; if the program was
// killed by a signal, does not return but dies of the same signal. Failures before the program runs
// are printed here, as one line, because their exit codes are this command's own.
int capture(const CaptureOptions& options);

}  // namespace teller::capture
