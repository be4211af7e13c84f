// The way of the program's output: a pseudo-terminal where the stream is a terminal, else a pipe.
#pragma once

#include <string>
#include <vector>

#include "teller/result.h"

namespace teller::capture {

// One way from the program to where its output would have gone.
struct Channel {
  std::string stream;    // "stdout", "stderr", or "output" where both are one open file
  int target_end = -1;   // for the program
  int our_end = -1;      // what the program writes arrives here
  int destination = -1;  // a descriptor above 2: the stream as teller itself got it
  bool terminal = false;
  bool serves_stdout = false;
  bool serves_stderr = false;
};

// Puts placeholders, closed at exec, where stdin, stdout or stderr is closed, so that no descriptor
// of ours lands there. Call it before anything is opened.
void fill_closed_streams();

// Closes every descriptor above 2 that is not among `kept`. Launcher and recorder inherit what was
// open for the program; held by us, its readers would not see its end, nor would its locks be
// freed.
void close_inherited(const std::vector<int>& kept);

// Makes the channels for stdout and stderr as they are now. A stream that is closed has none. Where
// both are one open file (2>&1, or one terminal) they share a channel, because the order between
// the two would be lost otherwise; `split` makes two all the same.
Result<std::vector<Channel>> open_channels(bool split);

// Gives the channel's pseudo-terminal the window size of its destination.
void copy_window_size(const Channel& channel);

}  // namespace teller::capture
