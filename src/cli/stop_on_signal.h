// Ctrl-C and its like as a wish to stop, so that nothing is left half done.
#pragma once

#include <atomic>
#include <csignal>

namespace teller::cli {

// While one lives, the first SIGINT, SIGTERM or SIGHUP is taken as a wish to stop, and the next one
// ends the command as it would without. A hangup that is ignored (nohup) stays so. Only one at a
// time.
class StopOnSignal {
 public:
  StopOnSignal();
  StopOnSignal(const StopOnSignal&) = delete;
  StopOnSignal& operator=(const StopOnSignal&) = delete;
  ~StopOnSignal();

  // Becomes true with the signal; lives as long as the program.
  static const std::atomic<bool>& asked();
  // Of the command: 128 + the signal.
  static int exit_code();

 private:
  struct sigaction interrupt_ {};
  struct sigaction terminate_ {};
  struct sigaction hang_up_ {};
};

}  // namespace teller::cli
