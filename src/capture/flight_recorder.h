// `teller trace --last`: keeps the newest window in memory, and writes it out when a trigger fires
// and at the end. docs/flight_recorder.md.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "capture/capture.h"
#include "capture/control_socket.h"
#include "capture/log_window.h"
#include "capture/process_table.h"
#include "capture/run_writer.h"
#include "capture/traced_processes.h"
#include "capture/triggers.h"
#include "capture/window_dumps.h"

namespace teller::capture {

// Not thread-safe.
class FlightRecorder {
 public:
  // From here on `traced` and `writer` keep events and log lines for this class. `socket_folder`:
  // where the control socket goes. From here on SIGUSR2 is a trigger.
  static Result<std::unique_ptr<FlightRecorder>> create(const CaptureOptions& options,
                                                        const std::string& socket_folder,
                                                        RunWriter& writer, TracedProcesses& traced,
                                                        ProcessTable& table);

  int listener() const { return control_.listener(); }
  // Forgets what is too old or too much, looks for triggers, writes what is due.
  void step(std::int64_t now_ns);
  // Writes the last window into the run itself, the first time that it is called.
  Status finish(std::int64_t now_ns);
  // Nothing can be written any more: those who wait are told `reason`, and nobody is listened to.
  void stop(const std::string& reason);
  // Adds what the run itself holds, once it is written.
  void add_counts(RunTotals* totals) const;
  // What to tell when the program has ended, one line each.
  std::vector<std::string> summary() const;

 private:
  FlightRecorder(const CaptureOptions& options, RunWriter& writer, TracedProcesses& traced,
                 ProcessTable& table, LogWindow logs, LogWindow context, ControlSocket control);
  void forget(std::int64_t now_ns);
  bool forget_oldest();
  void close(const Status& status);
  void look_for_triggers(std::int64_t now_ns);
  void take_requests(std::int64_t now_ns);
  void write_due(std::int64_t now_ns);
  void note_written(const WindowDumps::Written& written);
  Status write_run(const std::string& path, const Trigger& trigger, std::int64_t now_ns);
  nlohmann::ordered_json window_json(std::int64_t now_ns) const;

  const CaptureOptions& options_;
  RunWriter& writer_;
  TracedProcesses& traced_;
  ProcessTable& table_;
  LogWindow logs_;
  LogWindow context_;
  ControlSocket control_;
  Triggers triggers_;
  std::string path_;  // of the run, absolute: who is told it may be elsewhere
  WindowDumps dumps_;
  std::int64_t window_ns_;
  std::uint64_t cut_short_ = 0;  // times that memory did not last for the window
  std::vector<std::string> failures_;
  bool finished_ = false;
};

}  // namespace teller::capture
