// Runs a program and records it: `teller trace`. The only header of this folder that others
// include.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "teller/result.h"

namespace teller::capture {

// Exit codes of our own, as env(1) and timeout(1) have them; everything else is the program's, but
// for that of ErrorCode::kUsage where options make no sense.
inline constexpr int kExitTellerFailed = 125;
inline constexpr int kExitNotExecutable = 126;
inline constexpr int kExitNotFound = 127;

// What was captured reaches the run folder at least this often: what a SIGKILL of the recorder can
// cost.
inline constexpr int kFlushPeriodMs = 250;

struct CaptureOptions {
  std::vector<std::string> argv;             // the program and its arguments
  std::string output;                        // run folder; "" = runs/<program>-<time>
  bool overwrite = false;                    // replace a run that is there
  std::vector<std::string> hook_files;       // further hook targets (docs/hooks.md)
  bool hooks = true;                         // load the Python hooks
  std::string level = "frontend";            // what they record: engine, frontend or operators
  std::vector<std::string> log_files;        // files, or patterns of files, to follow
  bool redact = true;                        // keep secrets and prompts out of the run
  std::vector<std::string> redact_patterns;  // further ones, as regular expressions of RE2
  bool context = true;                       // sample processes, host and GPUs each second
  bool find_metrics = true;                  // scrape engines that the program starts
  bool all_metrics = false;                  // keep every series, not only the known ones
  std::vector<std::string> metrics_urls;     // Prometheus endpoints to scrape
  bool preload = false;                      // LD_PRELOAD the collector into every process
  std::string cuda = "full";                 // CUPTI: "full", "kernels" (no calls), "off"
  std::string cuda_graph = "graph";          // launches of graphs: as a whole, or each "node"
  bool split_output = false;    // two channels even where stdout and stderr are one file
  std::uint64_t max_bytes = 0;  // stop capturing at this size of the run; 0 = never
  double duration_s = 0;        // stop capturing after this time; 0 = never
  double last_s = 0;            // keep only the newest seconds (--last); 0 = write everything
  std::uint64_t window_bytes = 256u << 20;  // memory for them
  double trigger_slow_step = 0;             // triggers: see TriggerKind; 0 = off
  std::vector<std::string> trigger_log;
  double after_s = 0;       // write so long after a trigger
  std::uint32_t keep = 16;  // newest triggered windows that stay
  bool quiet = false;       // nothing on stderr but errors before the program runs
  bool verbose = false;
};

// Runs the program to its end. Returns the exit code that teller should have; if the program was
// killed by a signal, does not return but dies of the same signal. Failures before the program runs
// are printed here, as one line, because their exit codes are this command's own.
int capture(const CaptureOptions& options);

// Asks the recorder of a run to write its window now. Returns the path of the run folder that was
// written. Fails if `run` is not being recorded with --last, if its recorder cannot be reached, or
// if it does not answer within `timeout_s`.
Result<std::string> trigger_window(const std::string& run, const std::string& reason,
                                   double timeout_s);

// `teller hooks`: becomes `python`, which does the work (python_hooks/teller_hooks/check.py).
// Returns only if that fails.
Result<int> run_hooks_tool(const std::string& python, const std::vector<std::string>& arguments);

// The folder of teller's own parts and whether they are there.
struct Parts {
  std::string library;       // libteller_collector.so, "" if not found
  std::string python_hooks;  // folder with sitecustomize.py, "" if not found
};

// Finds the native library and the Python hooks beside the executable (build tree or installed), or
// under TELLER_ROOT.
Parts find_parts();

}  // namespace teller::capture
