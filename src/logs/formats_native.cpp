// Formats of native libraries, runtimes and the kernel: NCCL, UCX, Ray, dmesg and syslog.
#include "logs/formats.h"
#include "logs/text.h"

namespace teller {

namespace {

constexpr std::size_t kMaxName = 128;
constexpr std::size_t kMaxSource = 160;

// "[2026-05-05 06:16:47] " in front; the cursor stays where it is if there is none.
std::optional<LogStamp> take_bracketed_stamp(Cursor& cursor) {
  if (cursor.peek() != '[') return std::nullopt;
  std::string_view rest = cursor.rest().substr(1);
  const auto stamp = take_stamp(rest);
  if (!stamp || !rest.starts_with("]")) return std::nullopt;
  cursor = Cursor(rest.substr(1));
  cursor.take(":");
  cursor.take(" ");
  return stamp;
}

// "node-01:189884:189884 ": the process.
std::optional<std::int64_t> take_host_pid(Cursor& cursor) {
  Cursor tried = cursor;
  const auto host = tried.until(": [", kMaxName);
  if (!host || host->empty() || !tried.take(":")) return std::nullopt;
  const auto pid = tried.digits(1, 10);
  if (!pid || !tried.take(":") || !tried.digits(1, 10) || !tried.take(" ")) return std::nullopt;
  cursor = tried;
  return pid;
}

// "transport/net.cc:1302 (recvProxy) " before NCCL's own word.
std::string_view take_nccl_source(Cursor& cursor) {
  Cursor tried = cursor;
  const auto source = tried.until(" ", kMaxSource);
  if (!source || !is_source(*source)) return "";
  tried.skip_blanks();
  if (tried.peek() == '(') {
    if (!tried.until(")", kMaxSource) || !tried.take(")")) return "";
    tried.skip_blanks();
  }
  cursor = tried;
  return *source;
}

}  // namespace

bool read_nccl(std::string_view text, LogFields& fields) {
  Cursor cursor(text);
  const auto stamp = take_bracketed_stamp(cursor);
  const auto pid = take_host_pid(cursor);
  if (!pid) return false;
  Cursor device = cursor;
  if (device.take("[") && device.digits(1, 6) && device.take("] ")) cursor = device;
  const std::string_view source = take_nccl_source(cursor);
  if (!cursor.take("NCCL ")) return false;
  const std::string_view level = level_at(cursor.rest());
  if (level.empty() && !cursor.rest().starts_with("ABORT ")) return false;
  cursor.word();
  cursor.take(" ");
  fields.level = level.empty() ? "CRITICAL" : level;
  fields.pid = *pid;
  fields.source = source;
  fields.message = cursor.rest();
  if (stamp) fields.stamp = *stamp;
  fields.named = true;
  fields.format = LogFormat::kNccl;
  return true;
}

// "[1784621081.896649] [host:537  :1]  srd_iface.c:221  UCX  ERROR …".
bool read_ucx(std::string_view text, LogFields& fields) {
  Cursor cursor(text);
  const auto stamp = take_bracketed_stamp(cursor);
  if (!stamp || !cursor.take("[")) return false;
  const auto host = cursor.until(":]", kMaxName);
  if (!host || !cursor.take(":")) return false;
  const auto pid = cursor.digits(1, 10);
  if (!pid || !cursor.until("]", kMaxName) || !cursor.take("]")) return false;
  cursor.skip_blanks();
  const auto source = cursor.until(" ", kMaxSource);
  cursor.skip_blanks();
  if (!source || !cursor.take("UCX")) return false;
  cursor.skip_blanks();
  const std::string_view level = level_at(cursor.rest());
  const std::string_view word = cursor.word();
  if (word.empty()) return false;
  cursor.skip_blanks();
  fields.level = word == "DIAG" ? "INFO" : level;
  fields.pid = *pid;
  fields.source = *source;
  fields.message = cursor.rest();
  fields.stamp = *stamp;
  fields.format = LogFormat::kUcx;
  return true;
}

// "[2025-04-02 15:02:00,117 E 135782 135782] (raylet) node_manager.cc:3069: …".
bool read_ray(std::string_view text, LogFields& fields) {
  if (!text.starts_with("[")) return false;
  std::string_view rest = text.substr(1);
  const auto stamp = take_stamp(rest);
  Cursor cursor(rest);
  if (!stamp || !cursor.take(" ")) return false;
  const std::string_view level = level_of_letter(cursor.peek());
  cursor = Cursor(cursor.rest().substr(cursor.at_end() ? 0 : 1));
  if (level.empty() || !cursor.take(" ")) return false;
  const auto pid = cursor.digits(1, 10);
  if (!pid || !cursor.take(" ") || !cursor.digits(1, 10) || !cursor.take("] ")) return false;
  if (cursor.take("(")) {
    const auto name = cursor.until(")", kMaxName);
    if (!name || !cursor.take(") ")) return false;
    fields.process = *name;
  }
  Cursor behind = cursor;
  const auto source = behind.until(" ", kMaxSource);
  if (source && source->ends_with(":") && is_source(source->substr(0, source->size() - 1))) {
    fields.source = source->substr(0, source->size() - 1);
    behind.take(" ");
    cursor = behind;
  }
  fields.level = level;
  fields.pid = *pid;
  fields.message = cursor.rest();
  fields.stamp = *stamp;
  fields.named = true;
  fields.format = LogFormat::kRay;
  return true;
}

// "[Fri Mar  3 04:44:24 2023] NVRM: …", "[ 1843.308145] …", "Feb 14 05:03:41 host kernel: …",
// "kern: warning: [2026-04-22T21:27:51.29Z]: …". Only what the kernel is known to write: a
// bracketed time alone is of many programs.
bool read_kernel(std::string_view text, LogFields& fields) {
  Cursor cursor(text);
  std::string_view level;
  bool kernel = false;
  std::optional<LogStamp> stamp;
  if (cursor.take("kern")) {
    cursor.take("el");
    kernel = cursor.take(": ");
    if (!kernel) return false;
    const auto word = cursor.until(":", 12);
    if (word == "warning") level = "WARNING";
    if (word == "err" || word == "crit" || word == "alert" || word == "emerg") level = "ERROR";
    if (word == "info" || word == "notice") level = "INFO";
    if (!level.empty()) cursor.take(": ");
    if (level.empty()) cursor = Cursor(text.substr(text.find(": ") + 2));
  } else if (is_upper(cursor.peek())) {
    std::string_view rest = cursor.rest();
    stamp = take_stamp(rest);
    Cursor behind(rest);
    if (stamp && behind.take(" ") && behind.until(" ", kMaxName) && behind.take(" kernel: ")) {
      kernel = true;
      cursor = behind;
    } else {
      stamp.reset();
    }
  }
  if (const auto inner = take_bracketed_stamp(cursor)) {
    kernel = kernel || inner->clock == StampClock::kMonotonic;
    if (!stamp) stamp = inner;
  }
  bool known = false;
  for (const std::string_view sign : {"NVRM: ", "nvidia-nvlink: ", "Out of memory: ", "oom-kill:",
                                      "oom_reaper: ", "mlx5_core ", "pcieport ", "amdgpu "}) {
    known = known || cursor.rest().starts_with(sign);
  }
  if (!kernel && !known) return false;
  fields.level = level;
  fields.process = "kernel";
  fields.message = cursor.rest();
  if (stamp) fields.stamp = *stamp;
  fields.format = LogFormat::kKernel;
  return true;
}

}  // namespace teller
