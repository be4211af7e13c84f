#include "capture/log_lines.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "base/utf8.h"

namespace teller::capture {

namespace {

void append_escaped(std::string& out, unsigned char c) {
  switch (c) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      char code[8];
      std::snprintf(code, sizeof code, "\\u%04x", c);
      out += code;
  }
}

}  // namespace

bool append_json_string(std::string& out, std::string_view text) {
  bool valid = true;
  out += '"';
  while (!text.empty()) {
    const Utf8Piece piece = read_utf8(text);
    const auto first = static_cast<unsigned char>(text[0]);
    if (!piece.valid) {
      valid = false;
      out += kReplacement;
    } else if (first < 0x20 || first == '"' || first == '\\' || first == 0x7f) {
      append_escaped(out, first);
    } else {
      out.append(text.substr(0, piece.length));
    }
    text.remove_prefix(piece.length);
  }
  out += '"';
  return valid;
}

LogLines::LogLines(std::string stream, std::int64_t pid, const Redactor* redactor)
    : stream_(std::move(stream)), pid_(pid), redactor_(redactor) {}

void LogLines::add(std::int64_t time_ns, std::string_view bytes, std::string& out) {
  while (!bytes.empty()) {
    if (after_return_) {
      after_return_ = false;
      const bool is_pair = bytes[0] == '\n';
      // A lone \r at the start of a line is a progress bar going back, not an empty line.
      if (is_pair || !partial_.empty()) end_line(time_ns, out);
      if (is_pair) bytes.remove_prefix(1);
      continue;
    }
    const std::size_t end = bytes.find_first_of("\r\n");
    take(time_ns, bytes.substr(0, end), out);
    if (end == std::string_view::npos) return;
    after_return_ = bytes[end] == '\r';
    if (!after_return_) end_line(time_ns, out);
    bytes.remove_prefix(end + 1);
  }
}

void LogLines::end_line(std::int64_t time_ns, std::string& out) {
  if (partial_.empty()) {
    partial_ns_ = time_ns;
    emit("", true, out);
    redactor_.end_line();
    return;
  }
  while (!partial_.empty()) emit_piece(true, out);
}

void LogLines::finish(std::string& out) {
  if (!partial_.empty()) end_line(partial_ns_, out);
}

// Adds a part of a line that has no end in it.
void LogLines::take(std::int64_t time_ns, std::string_view part, std::string& out) {
  constexpr std::size_t kFull = kMaxLineBytes + LineRedactor::kLookahead;
  while (!part.empty()) {
    if (partial_.empty()) partial_ns_ = time_ns;
    const std::size_t room = kFull - partial_.size();
    partial_.append(part.substr(0, room));
    part.remove_prefix(std::min(room, part.size()));
    if (partial_.size() < kFull) return;
    emit_piece(false, out);
    partial_ns_ = time_ns;
  }
}

// Writes the front of the partial line, or all of it.
void LogLines::emit_piece(bool ends_line, std::string& out) {
  std::string text;
  const std::size_t taken = redactor_.take(partial_, kMaxLineBytes, ends_line, text);
  const bool last = ends_line && taken == partial_.size();
  if (!text.empty() || (last && !continues_)) {
    emit(text, last, out);
  } else if (last) {
    continues_ = false;  // nothing was left of the rest of the line
  }
  partial_.erase(0, taken);
}

void LogLines::emit(std::string_view text, bool ends_line, std::string& out) {
  out += "{\"t\":" + std::to_string(partial_ns_) + ",\"stream\":";
  append_json_string(out, stream_);
  out += ",\"pid\":" + std::to_string(pid_) + ",\"text\":";
  const bool valid = append_json_string(out, text);
  if (!valid) out += ",\"raw\":1";
  if (continues_) out += ",\"cont\":1";
  out += "}\n";
  continues_ = !ends_line;
  ++lines_;
}

}  // namespace teller::capture
