// What a log line of a serving or training stack says beside its message: one parser for all
// commands. Formats and their limits: docs/logs.md.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "logs/stamp.h"

namespace teller {

// The format that a line has; names as `dump` prints them.
enum class LogFormat : std::uint8_t {
  kNone,     // none that is known: the whole line is its message
  kVllm,     // "INFO 12-22 21:44:40 [core.py:349] …", with or without "(NAME pid=N) " before it
  kUvicorn,  // "INFO:     10.0.0.1:52348 - "POST …", "WARNING:module:…"
  kSglang,   // "[2026-07-21 08:04:41 TP0 EP0] …"
  kGlog,  // "[rank3]:[E410 14:46:34.6 ProcessGroupNCCL.cpp:684] …", "E0619 … file.cpp:136] …"
  kNccl,  // "host:pid:tid [0] NCCL INFO …"
  kKernel,     // "[ 1843.3] NVRM: Xid …", "Feb 14 05:03:41 host kernel: …"
  kRay,        // "[2025-04-02 15:02:00,117 E 135782 135782] (raylet) node_manager.cc:3069: …"
  kTensorRt,   // "[06/24/2026-15:44:20] [TRT-LLM] [RANK 0] [E] …", "[TensorRT-LLM][INFO] …"
  kUcx,        // "[1784621081.896649] [host:537  :1]  srd_iface.c:221  UCX  ERROR …"
  kPython,     // "2024-03-15 12:39:26,101 - root - INFO - …", "module: [ERROR] …"
  kBracketed,  // "[2025-04-21T23:31:09.07] [426] [INFO] …": DLRover, DeepSpeed, gunicorn
  kJson,       // {"asctime": …, "levelname": …, "message": …}
};
std::string_view log_format_name(LogFormat format);  // "vllm", …; "" for kNone

// Ranks that a line states; -1 where it states none.
struct LogRanks {
  std::int32_t global = -1;  // of the whole job
  std::int32_t local = -1;   // on its host
  std::int32_t dp = -1, pp = -1, tp = -1, ep = -1;
};

struct LogFields {
  LogFormat format = LogFormat::kNone;
  std::string_view level;    // "DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL", "" where unknown
  std::string_view process;  // its name: "EngineCore_DP0", "raylet"; "" where unknown
  std::string_view source;   // "core.py:349"; "" where unknown
  std::string_view message;  // the line behind all that
  std::int64_t pid = -1;     // process that wrote the line, if it says so
  LogRanks ranks;
  LogStamp stamp;
  bool named = false;     // a process or a rank stands before it: its lines can be told apart
  bool prefixed = false;  // it begins like a line of its own
};

// Reads the front of one line. Views point into `text`. Linear in its length; at most the first
// 64 KiB are looked at. The message of a JSON line is as it is escaped there.
LogFields parse_line(std::string_view text);

// The ids that a message states as ids of requests, in order, each once: behind a key
// ("request_id=ID", "rids=['ID', 'ID']") or in an engine's own phrase ("Added request ID."). Prose
// names no new request. At most 64.
std::vector<std::string_view> stated_requests(std::string_view message);
// The first of them; "" if there is none.
std::string_view stated_request(std::string_view message);

}  // namespace teller
