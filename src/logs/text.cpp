#include "logs/text.h"

#include <algorithm>

namespace teller {

namespace {

struct LevelWord {
  std::string_view word;
  std::string_view level;
};
// Longer words first where one begins another.
constexpr LevelWord kLevels[] = {
    {"DEBUG", "DEBUG"},       {"TRACE", "DEBUG"},     {"INFO", "INFO"},
    {"NOTICE", "INFO"},       {"WARNING", "WARNING"}, {"WARN", "WARNING"},
    {"CRITICAL", "CRITICAL"}, {"FATAL", "CRITICAL"},  {"ERROR", "ERROR"}};

}  // namespace

std::string_view level_at(std::string_view text) {
  for (const LevelWord& entry : kLevels) {
    const std::size_t size = entry.word.size();
    if (text.starts_with(entry.word) && (text.size() == size || !is_word(text[size]))) {
      return entry.level;
    }
  }
  return "";
}

std::string_view level_of_letter(char letter) {
  switch (letter) {
    case 'E':
      return "ERROR";
    case 'W':
      return "WARNING";
    case 'I':
      return "INFO";
    case 'F':
      return "CRITICAL";
    case 'D':
    case 'V':
      return "DEBUG";
    default:
      return "";
  }
}

bool is_source(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || text.find(' ') != std::string_view::npos) return false;
  const std::string_view line = text.substr(colon + 1);
  if (line.empty() || line.size() > 7 || !std::all_of(line.begin(), line.end(), is_digit)) {
    return false;
  }
  const std::string_view file = text.substr(0, colon);
  for (const std::string_view end :
       {".py", ".pyx", ".cpp", ".cc", ".cu", ".cuh", ".c", ".h", ".hpp", ".rs", ".go"}) {
    if (file.size() > end.size() && file.ends_with(end)) return true;
  }
  return false;
}

}  // namespace teller
