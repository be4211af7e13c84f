// Cuts a stream of bytes into log lines and writes them as JSON.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "redact/redact.h"

namespace teller::capture {

// A line longer than this is written in pieces, each but the first with "cont":1.
inline constexpr std::size_t kMaxLineBytes = 64 << 10;

// Appends `text` as a JSON string. Returns false if it held bytes that are not UTF-8; they become
// U+FFFD.
bool append_json_string(std::string& out, std::string_view text);

// Turns the chunks of one stream into lines of logs.jsonl. A line ends at \n, \r\n or a lone \r
// (progress bars), and carries the arrival time of its first byte.
class LogLines {
 public:
  // `redactor` decides what may be stored of a line; it outlives this.
  LogLines(std::string stream, std::int64_t pid, const Redactor* redactor);

  void set_pid(std::int64_t pid) { pid_ = pid; }
  // Appends to `out` the lines that `bytes` completes.
  void add(std::int64_t time_ns, std::string_view bytes, std::string& out);
  // Appends what is left as a last line.
  void finish(std::string& out);
  std::uint64_t lines() const { return lines_; }
  const RedactCounts& redacted() const { return redactor_.counts(); }

 private:
  void end_line(std::int64_t time_ns, std::string& out);
  void emit(std::string_view text, bool ends_line, std::string& out);
  void emit_piece(bool ends_line, std::string& out);
  void take(std::int64_t time_ns, std::string_view part, std::string& out);

  std::string stream_;
  std::int64_t pid_;
  LineRedactor redactor_;
  std::string partial_;  // as it came: what is stored of it has gone through redactor_
  std::int64_t partial_ns_ = 0;
  bool continues_ = false;     // the piece to come is not the first of its line
  bool after_return_ = false;  // the last byte was \r: whether it ends a line depends on the next
  std::uint64_t lines_ = 0;
};

}  // namespace teller::capture
