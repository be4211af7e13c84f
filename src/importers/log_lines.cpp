#include "importers/log_lines.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/utf8.h"
#include "importers/input_stream.h"
#include "logs/line.h"

namespace teller {

namespace {

constexpr std::size_t kMostLine = 1u << 20;

Error of_log(Error error) {
  constexpr std::string_view kTrace = "reading trace";
  if (error.message.starts_with(kTrace)) error.message.replace(0, kTrace.size(), "reading log");
  return error;
}

}  // namespace

void set_log_text(std::string_view text, LogLine& line) {
  std::string& clean = line.text;
  clean.clear();
  append_valid_utf8(text, clean);
  std::replace_if(
      clean.begin(), clean.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  while (!clean.empty() && clean.back() == ' ') clean.pop_back();
  line.raw = clean.find("\xEF\xBF\xBD") != std::string::npos &&
             text.find("\xEF\xBF\xBD") == std::string_view::npos;
}

void append_log_lines(std::string_view text, const LogLine& like, std::vector<LogLine>& lines) {
  while (!text.empty()) {
    const auto end = text.find('\n');
    LogLine line = like;
    set_log_text(text.substr(0, end), line);
    if (!line.text.empty()) lines.push_back(std::move(line));
    if (end == std::string_view::npos) return;
    text.remove_prefix(end + 1);
  }
}

Status read_log_file(const std::string& path, const std::string& name,
                     const std::atomic<bool>* stop, std::vector<LogLine>& lines) {
  LogLine like;
  like.stream = name;
  auto opened = InputStream::open(path, {.stop = stop});
  if (!opened) return of_log(opened.error());
  const auto& input = *opened;
  std::string open;  // the line that no piece has ended yet
  while (true) {
    TELLER_TRY(const std::string_view piece, input->next());
    open += piece;
    const bool last = piece.empty();
    // A line without an end is cut into lines of this size.
    const std::size_t end = open.rfind('\n');
    const bool cut = end == std::string::npos && (last || open.size() > kMostLine);
    const std::size_t size = cut || last ? open.size() : end + 1;  // npos + 1: nothing
    append_log_lines(std::string_view(open).substr(0, size), like, lines);
    open.erase(0, size);
    if (last) break;
  }
  if (input->cut_reason().empty()) return {};
  return Error{ErrorCode::kCorrupt, "reading log " + path + ": " + input->cut_reason(),
               "inflate it as far as it goes, and give that"};
}

bool looks_like_log(std::string_view head) {
  constexpr std::size_t kMostLines = 200;
  if (head.find('\0') != std::string_view::npos) return false;
  std::size_t lines = 0;
  std::size_t known = 0;
  while (!head.empty() && lines < kMostLines) {
    const std::string_view line = head.substr(0, head.find('\n'));
    head.remove_prefix(std::min(line.size() + 1, head.size()));
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    ++lines;
    if (parse_line(line).format != LogFormat::kNone) ++known;
  }
  // Tracebacks and what a program prints itself have no format.
  return known > 0 && known * 5 >= lines;
}

std::string log_lines_json(const std::vector<LogLine>& lines) {
  std::string out;
  for (const LogLine& line : lines) {
    nlohmann::ordered_json json;
    json["t"] = line.t_ns ? nlohmann::ordered_json(*line.t_ns) : nlohmann::ordered_json();
    json["stream"] = line.stream;
    if (!line.source.empty()) json["source"] = line.source;
    if (line.pid) json["pid"] = *line.pid;
    json["text"] = line.text;
    if (!line.level.empty()) json["level"] = line.level;
    if (!line.placed_by.empty()) json["t_from"] = line.placed_by;
    if (line.raw) json["raw"] = 1;
    out += meta_text(json);
    out += '\n';
  }
  return out;
}

}  // namespace teller
