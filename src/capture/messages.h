// What goes over sockets: between launcher and recorder, and from a traced process to the recorder.
#pragma once

#include <string>

#include "teller/ring.h"

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
    kChannelEnded =
        7,  // recorder -> launcher: pid = index of a channel that is closed on either side
  };
  int kind = 0;
  int pid = 0;
  int wait_status = 0;
};

// One message with text. False if the other side is gone.
bool send_message(int socket, const Message& message, const std::string& text = "");
// Waits for one. False if the other side is gone (or, with `wait` false, if there is none).
bool receive_message(int socket, Message* message, std::string* text, bool wait);

// Receives what a process sends to announce itself. Returns the descriptor beside it, to be closed
// by the caller; -1 if it is not a Hello; kNothingYet if the connection does not wait for one.
constexpr int kNothingYet = -2;
int receive_hello(int connection, ring::Hello* hello);

}  // namespace teller::capture
