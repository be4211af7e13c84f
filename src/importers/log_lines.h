// Log text as lines of logs.jsonl.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "importers/source_import.h"
#include "teller/result.h"

namespace teller {

// Sets the text of a line: without line ends, as valid UTF-8.
void set_log_text(std::string_view text, LogLine& line);
// Takes one line; it may move from it.
using UseLogLine = std::function<Status(LogLine& line)>;
// Gives each line of `text` that is not empty to `use`, with the other fields of `like`.
Status each_log_line(std::string_view text, const LogLine& like, const UseLogLine& use);
// Whether `head`, the beginning of a file (inflated), is a log: enough of its lines have a format
// that is known.
bool looks_like_log(std::string_view head);
// What is read of one log file; what is larger is refused: a small file may inflate to any size.
struct LogLimits {
  std::uint64_t bytes = 256ull << 30;       // in all, inflated
  std::uint64_t times = 300;                // the file's own size …
  std::uint64_t always_bytes = 256u << 20;  // … unless it is this small
  std::uint64_t lines = 200'000'000;
  std::uint64_t lines_per_byte = 4;        // of the file: no log compresses better …
  std::uint64_t always_lines = 2'000'000;  // … unless it has so few
};

struct LogFileRead {
  std::string digest;  // of the file
  std::string behind;  // what was not read behind compressed data; "" if nothing is there
};

// Reads a log file, plain, gzip or zstd, and gives its lines to `use`, in order; they carry their
// own times as text: LogPlacer reads them. kUnsupported beyond the limits, kCorrupt for compressed
// data that is damaged or cut.
Result<LogFileRead> read_log_file(const std::string& path, const std::string& name,
                                  const std::atomic<bool>* stop, const UseLogLine& use,
                                  const LogLimits& limits = {});

}  // namespace teller
