#include "importers/log_lines.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/mapped_file.h"
#include "base/utf8.h"

namespace teller {

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
                     std::vector<LogLine>& lines) {
  TELLER_TRY(const MappedFile file, MappedFile::open(path, "log"));
  LogLine like;
  like.stream = name;
  append_log_lines(file.text(), like, lines);
  return {};
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
    if (line.raw) json["raw"] = 1;
    out += meta_text(json);
    out += '\n';
  }
  return out;
}

}  // namespace teller
