// The recorder: a process beside the program that owns everything slow. It drains the shared rings, passes the
// program's output on, looks at /proc and writes the run folder.
#pragma once

#include <string>
#include <vector>

#include "capture/capture.h"
#include "capture/channel.h"
#include "run_folder/run_folder.h"

namespace teller::capture {

// What launcher and recorder say to each other, over a SOCK_SEQPACKET pair; text may follow.
struct Message {
  enum Kind : int {
    kReady = 1,    // recorder -> launcher: you may start the program
    kFailed = 2,   // recorder -> launcher: text = why it cannot record
    kStarted = 3,  // launcher -> recorder: pid
    kExited = 4,   // launcher -> recorder: wait_status
    kResized = 5,  // launcher -> recorder: the terminal has another size
    kDone = 6,     // recorder -> launcher: text = the lines to print
  };
  int kind = 0;
  int pid = 0;
  int wait_status = 0;
};

struct RecorderSetup {
  std::vector<Channel> channels;
  int listener = -1;  // processes announce themselves here
  int control = -1;   // to the launcher
  std::string socket_path;
  std::vector<std::string> notes;  // for the manifest
};

// Runs the recorder in the calling process, which was forked for it; never returns.
[[noreturn]] void run_recorder(const CaptureOptions& options, RecorderSetup setup, RunFolder run);

// One message with text. False if the other side is gone.
bool send_message(int socket, const Message& message, const std::string& text = "");
// Waits for one. False if the other side is gone (or, with `wait` false, if there is none).
bool receive_message(int socket, Message* message, std::string* text, bool wait);

}  // namespace teller::capture
