#include "importers/log_lines.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/mapped_file.h"
#include "importers/json_text.h"

namespace teller {

namespace {

// The level that a line names near its start, in the words that loggers use.
std::string level_of(std::string_view line) {
  constexpr std::pair<std::string_view, const char*> kWords[] = {
      {"CRITICAL", "critical"}, {"FATAL", "critical"}, {"ERROR", "error"}, {"WARNING", "warning"},
      {"WARN", "warning"},      {"INFO", "info"},      {"DEBUG", "debug"}};
  const std::string_view head = line.substr(0, 120);
  std::size_t best = std::string_view::npos;
  std::string level;
  for (const auto& [word, name] : kWords) {
    const auto at = head.find(word);
    if (at >= best) continue;
    best = at;
    level = name;
  }
  return level;
}

}  // namespace

std::string clean_log_text(std::string_view text) {
  std::string clean;
  append_valid_utf8(text, clean);
  std::replace_if(
      clean.begin(), clean.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  while (!clean.empty() && clean.back() == ' ') clean.pop_back();
  return clean;
}

void append_log_lines(std::string_view text, const LogLine& like, std::vector<LogLine>& lines) {
  while (!text.empty()) {
    const auto end = text.find('\n');
    LogLine line = like;
    line.text = clean_log_text(text.substr(0, end));
    line.level = level_of(line.text);
    if (!line.text.empty()) lines.push_back(std::move(line));
    if (end == std::string_view::npos) return;
    text.remove_prefix(end + 1);
  }
}

Status read_log_file(const std::string& path, const std::string& name,
                     std::vector<LogLine>& lines) {
  TELLER_TRY(const MappedFile file, MappedFile::open(path, "log"));
  LogLine like;
  like.stream = "log";
  like.source = name;
  append_log_lines(file.text(), like, lines);
  return {};
}

std::string log_lines_json(const std::vector<LogLine>& lines) {
  std::string out;
  for (const LogLine& line : lines) {
    nlohmann::ordered_json json;
    json["t_ns"] = line.t_ns ? nlohmann::ordered_json(*line.t_ns) : nlohmann::ordered_json();
    json["stream"] = line.stream;
    json["source"] = line.source;
    json["pid"] = line.pid ? nlohmann::ordered_json(*line.pid) : nlohmann::ordered_json();
    json["level"] =
        line.level.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(line.level);
    json["text"] = line.text;
    out += meta_text(json);
    out += '\n';
  }
  return out;
}

}  // namespace teller
