// What a log line of a serving or training stack says beside its message. Private to reconstruct/
// and its tests.
#pragma once

#include <cstdint>
#include <string_view>

namespace teller {

struct LogLine {
  std::string_view level;    // "DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL", "" where unknown
  std::string_view message;  // the line behind its prefix
  std::int64_t pid = -1;     // process that the line names
  bool prefixed = false;     // it begins like a line of its own, so it continues nothing
};

// Reads the prefix of a line of vLLM, SGLang, torch.distributed, NCCL, uvicorn, Python's logging,
// glog or the kernel.
LogLine parse_log_line(std::string_view text);

// True for a line that can only go on with what stood before it: an indented line, a line of a
// Python traceback.
bool continues_message(const LogLine& line);

// The id that the line states as one: behind a key ("request_id=ID", "rids=['ID']") or in an
// engine's own phrase ("Added request ID."). "" if it states none: prose names no new request.
std::string_view stated_request(std::string_view message);

}  // namespace teller
