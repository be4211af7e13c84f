// The ends of the log files that the processes of the job write.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "snapshot/details.h"
#include "snapshot/facts.h"

namespace teller::snapshot_detail {

inline constexpr std::size_t kTailBytes = 64u << 10;
inline constexpr std::size_t kMostLogFiles = 64;

struct LogTail {
  std::string path;  // as the process sees it
  std::int64_t pid = 0;
  bool cut = false;                // what stood before is left out
  std::vector<std::string> lines;  // redacted; no line is longer than kTailBytes
};

// Tails of regular files that `process` holds open for writing and that hold text. A file that
// several processes write is taken once. Opening /proc/<pid>/fd/<n> makes a description of our own:
// the process's offset stays.
void read_log_tails(const Process& process, const OpenFiles& open, Job& job,
                    std::vector<LogTail>& tails);

}  // namespace teller::snapshot_detail
