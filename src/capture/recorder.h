// The recorder: a process beside the program that owns everything slow. It drains the shared rings,
// passes the program's output on, looks at /proc and writes the run folder.
#pragma once

#include <string>
#include <vector>

#include "capture/capture.h"
#include "capture/channel.h"
#include "capture/messages.h"
#include "run_folder/run_folder.h"

namespace teller::capture {

struct RecorderSetup {
  std::vector<Channel> channels;
  int listener = -1;  // processes announce themselves here
  int control = -1;   // to the launcher
  std::string socket_path;
  std::vector<std::string> notes;  // for the manifest
};

// Runs the recorder in the calling process, which was forked for it; never returns.
[[noreturn]] void run_recorder(const CaptureOptions& options, RecorderSetup setup, RunFolder run);

}  // namespace teller::capture
