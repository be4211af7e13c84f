// Becoming the program: what happens between fork and exec, and the signals that the launcher keeps
// for itself.
#pragma once

#include <signal.h>

#include <string>
#include <vector>

#include "capture/channel.h"

namespace teller::capture {

// How signals were before the launcher changed them: the program gets them so.
struct Signals {
  sigset_t original_mask;
  struct sigaction original_pipe;
  struct sigaction original_child;
  sigset_t waited;
};

// Blocks what is to be passed on, so that it can be waited for.
void take_signals(Signals* signals);

struct StartRequest {
  std::string path;
  std::vector<std::string> argv;
  std::vector<std::string> variables;
  const std::vector<Channel>& channels;
  const Signals& signals;
};

// Starts the program and closes its ends of the channels. Its pid, or -errno if it could not be
// executed.
int start_program(StartRequest request);

}  // namespace teller::capture
