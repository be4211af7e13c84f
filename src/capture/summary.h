// The lines that teller prints when the program has ended.
#pragma once

#include <string>
#include <vector>

#include "capture/run_writer.h"

namespace teller::capture {

struct RunEnd {
  std::string run;                  // folder
  int wait_status = 0;              // of the program
  std::uint64_t still_running = 0;  // processes of the run that go on
  long long recorder = 0;           // pid of the recorder that goes on with them, 0 = it has ended
  std::string stop_reason;          // "" = the capture went to the end
  std::string manifest_error;       // "" = the manifest is written
};

// "" is never among them; each line is complete but for the newline.
std::vector<std::string> summary_lines(const RunEnd& end, const RunTotals& totals);

}  // namespace teller::capture
