#include "reconstruct/log_line.h"

#include <algorithm>
#include <charconv>
#include <initializer_list>

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

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_word(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool starts_with(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

std::string_view level_at(std::string_view text) {
  for (const LevelWord& entry : kLevels) {
    const std::size_t size = entry.word.size();
    if (starts_with(text, entry.word) && (text.size() == size || !is_word(text[size]))) {
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

std::int64_t number_at(std::string_view text) {
  std::int64_t number = -1;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// Takes "(EngineCore_DP0 pid=15638) (Worker_PP3 pid=200085, ip=…) " off the front of `text`.
void take_process_prefixes(std::string_view& text, LogLine& line) {
  while (starts_with(text, "(")) {
    const std::size_t close = text.find(") ");
    if (close == std::string_view::npos) return;
    const std::string_view inside = text.substr(0, close);
    const std::size_t pid = inside.find("pid=");
    if (pid == std::string_view::npos) return;
    line.pid = number_at(inside.substr(pid + 4));
    text.remove_prefix(close + 2);
    line.prefixed = true;
  }
}

// "[rank3]:", "rank3:", "[default0]:" in front of lines of launched processes.
void take_rank_prefix(std::string_view& text) {
  for (const std::string_view word : {"[rank", "rank", "[default"}) {
    if (!starts_with(text, word)) continue;
    std::size_t at = word.size();
    const std::size_t digits = at;
    while (at < text.size() && is_digit(text[at])) ++at;
    if (at == digits) continue;
    if (at < text.size() && text[at] == ']') ++at;
    if (at < text.size() && text[at] == ':') {
      text.remove_prefix(at + 1);
      return;
    }
  }
}

// vLLM, uvicorn, Python's default: "INFO 02-25 11:11:31 [file.py:1] …", "INFO:     …".
bool parse_level_first(std::string_view text, LogLine& line) {
  line.level = level_at(text);
  if (line.level.empty()) return false;
  std::size_t at = 0;
  while (at < text.size() && is_word(text[at])) ++at;
  std::string_view rest = text.substr(at);
  if (const std::size_t file = rest.find(".py:"); file != std::string_view::npos && file < 120) {
    const std::size_t close = rest.find(']', file);
    if (close != std::string_view::npos && close < file + 12) rest = rest.substr(close + 1);
  }
  while (!rest.empty() && (rest.front() == ':')) rest.remove_prefix(1);
  line.message = rest.empty() || rest.front() != ' ' ? rest : rest.substr(1);
  return true;
}

// "[E410 14:46:34.6 ProcessGroupNCCL.cpp:684] …", "[E ProcessGroupNCCL.cpp:828] …",
// "E0619 02:47:42.441629  1555 tcp_transport.cpp:136] …".
bool parse_glog(std::string_view text, LogLine& line) {
  const bool bracket = starts_with(text, "[");
  const std::string_view inside = text.substr(bracket ? 1 : 0);
  const std::size_t close = inside.find("] ");
  if (close == std::string_view::npos || inside.empty()) return false;
  const bool dated = inside.size() > 4 && is_digit(inside[1]) && is_digit(inside[2]);
  const bool plain = bracket && inside.size() > 2 && inside[1] == ' ';
  const std::string_view head = inside.substr(0, close);
  const bool source =
      head.find(".cpp:") != std::string_view::npos || head.find(".cc:") != std::string_view::npos ||
      head.find(".h:") != std::string_view::npos || head.find(".py:") != std::string_view::npos;
  if (!(dated || plain) || !source) return false;
  line.level = level_of_letter(inside[0]);
  line.message = inside.substr(close + 2);
  return !line.level.empty();
}

// "[2026-07-21 08:04:41 TP0] …" of SGLang (no level), "[06/24/2026-15:44:20] [TRT-LLM] …".
bool parse_dated_bracket(std::string_view text, LogLine& line) {
  if (text.size() < 10 || text[0] != '[' || !is_digit(text[1])) return false;
  const std::size_t close = text.find("] ");
  if (close == std::string_view::npos ||
      text.substr(0, close).find(':') == std::string_view::npos) {
    return false;
  }
  line.message = text.substr(close + 2);
  for (std::size_t at = 0; at + 3 < line.message.size() && line.message[at] == '[';) {
    const std::size_t end = line.message.find("] ", at);
    if (end == std::string_view::npos) break;
    if (end == at + 2) line.level = level_of_letter(line.message[at + 1]);
    at = end + 2;
  }
  return true;
}

// "host:pid:tid [0] NCCL INFO …", " - INFO - …", "[ERROR] …": the level stands further inside.
void find_inner_level(std::string_view text, LogLine& line) {
  constexpr std::size_t kNear = 160;
  const std::string_view head = text.substr(0, kNear);
  for (const std::string_view mark : {"NCCL ", " - ", "[", "] "}) {
    for (std::size_t at = head.find(mark); at != std::string_view::npos;
         at = head.find(mark, at + 1)) {
      const std::string_view level = level_at(head.substr(at + mark.size()));
      if (level.empty()) continue;
      line.level = level;
      line.prefixed = true;
      return;
    }
  }
}

// A line that names an exception, or a fault that no level word announces.
bool states_error(std::string_view message) {
  for (const std::string_view sign :
       {"Traceback (most recent call last)", "NVRM: Xid", "hit an exception", "Fatal Python error",
        "CUDA error:", "memory leak detected", "Segmentation fault", "core dumped"}) {
    if (message.find(sign) != std::string_view::npos) return true;
  }
  const std::size_t colon = message.find(':');
  const std::string_view word = message.substr(0, colon);
  if (word.empty() || word.size() > 100 || word.find(' ') != std::string_view::npos) return false;
  const auto ends_with = [&](std::string_view end) {
    return word.size() > end.size() && word.substr(word.size() - end.size()) == end;
  };
  return ends_with("Error") || ends_with("Exception");
}

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}
bool same_letters(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower(x) == lower(y); });
}

// Where `word` next begins a word of `text`, in letters of any case.
std::size_t find_word(std::string_view text, std::string_view word, std::size_t from) {
  for (std::size_t at = from; at + word.size() <= text.size(); ++at) {
    if (at > 0 && is_word(text[at - 1])) continue;
    if (same_letters(text.substr(at, word.size()), word)) return at;
  }
  return std::string_view::npos;
}

// What engines say of a request where they do not write a key.
struct Phrase {
  std::string_view before;
  std::string_view after;
};
constexpr Phrase kPhrases[] = {
    {"Received request ", ":"}, {"Added request ", "."},       {"Aborted request ", "."},
    {"Finished request ", "."}, {"Aborted request(s) ", "."},  {"Request ", " aborted"},
    {"Request ", " failed ("},  {"Finished request(s) ", "."},
};

bool is_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_digit);
}

// "12ms", "16GiB", "2nd": a number and what it counts.
bool is_quantity(std::string_view token) {
  std::size_t at = 0;
  while (at < token.size() && is_digit(token[at])) ++at;
  const std::string_view unit = token.substr(at);
  if (at == 0) return false;
  for (const std::string_view known :
       {"ns",   "us",       "ms",    "s",      "sec",   "secs", "min",   "mins",   "h",
        "hz",   "khz",      "mhz",   "ghz",    "b",     "k",    "m",     "g",      "t",
        "kb",   "mb",       "gb",    "tb",     "kib",   "mib",  "gib",   "tib",    "x",
        "st",   "nd",       "rd",    "th",     "tok",   "toks", "token", "tokens", "req",
        "reqs", "requests", "bytes", "blocks", "steps", "times"}) {
    if (same_letters(unit, known)) return true;
  }
  return false;
}

// "v1", "12.5", "1.2.3rc1": begins like a version or a number with a fraction.
bool is_version(std::string_view token) {
  const bool marked = lower(token.front()) == 'v';
  const std::string_view rest = token.substr(marked ? 1 : 0);
  const std::size_t point = rest.find('.');
  if (marked && is_digits(rest)) return true;
  return point != std::string_view::npos && is_digits(rest.substr(0, point)) &&
         point + 1 < rest.size() && is_digit(rest[point + 1]);
}

// "2024-01-01", "2024-01-01T11:00".
bool is_date(std::string_view token) {
  if (token.size() < 10 || token[4] != '-' || token[7] != '-') return false;
  const bool date = is_digits(token.substr(0, 4)) && is_digits(token.substr(5, 2)) &&
                    is_digits(token.substr(8, 2));
  return date && (token.size() == 10 || token[10] == 'T' || token[10] == '_');
}

// "1e5", "0x7f3a".
bool is_number(std::string_view token) {
  if (token.size() > 2 && token[0] == '0' && lower(token[1]) == 'x') return true;
  const std::size_t exponent = token.find_first_of("eE");
  if (exponent == std::string_view::npos) return is_digits(token);
  std::string_view power = token.substr(exponent + 1);
  if (!power.empty() && power.front() == '-') power.remove_prefix(1);
  return is_digits(token.substr(0, exponent)) && is_digits(power);
}

// Ids that engines make have letters and digits, and are nothing else that has both.
bool is_plausible_id(std::string_view token) {
  const bool digit = std::any_of(token.begin(), token.end(), is_digit);
  const bool letter =
      std::any_of(token.begin(), token.end(), [](char c) { return is_word(c) && !is_digit(c); });
  return token.size() >= 3 && digit && letter && !is_number(token) && !is_quantity(token) &&
         !is_version(token) && !is_date(token);
}

// The id at the front of `text`; "" if what stands there is none.
std::string_view id_at(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size() && (is_word(text[end]) || text[end] == '-' || text[end] == '.')) ++end;
  while (end > 0 && text[end - 1] == '.') --end;
  const std::string_view id = text.substr(0, end);
  return is_plausible_id(id) ? id : "";
}

// The id in "=ID", ": ID", "\": \"ID\"", "=['ID', …]".
std::string_view id_behind_key(std::string_view text) {
  const auto skip = [&](std::string_view any) {
    const bool there = !text.empty() && any.find(text.front()) != std::string_view::npos;
    if (there) text.remove_prefix(1);
    return there;
  };
  skip("'\"");
  if (!skip("=:")) return "";
  skip(" ");
  skip("[");
  skip("'\"");
  return id_at(text);
}

}  // namespace

LogLine parse_log_line(std::string_view text) {
  LogLine line;
  take_process_prefixes(text, line);
  take_rank_prefix(text);
  line.message = text;
  if (parse_level_first(text, line) || parse_glog(text, line) || parse_dated_bracket(text, line)) {
    line.prefixed = true;
  } else {
    find_inner_level(text, line);
  }
  if (line.level.empty() && states_error(line.message)) line.level = "ERROR";
  return line;
}

bool continues_message(const LogLine& line) {
  const std::string_view message = line.message;
  if (message.empty()) return true;
  if (message.front() == ' ' || message.front() == '\t' || message.front() == '\r') return true;
  // The last line of a traceback names the exception.
  return !line.prefixed && line.level == "ERROR" && !starts_with(message, "Traceback");
}

std::string_view stated_request(std::string_view message) {
  for (const std::string_view key : {"request_id", "request id", "req_id", "rids", "rid"}) {
    for (std::size_t at = find_word(message, key, 0); at != std::string_view::npos;
         at = find_word(message, key, at + 1)) {
      const std::string_view id = id_behind_key(message.substr(at + key.size()));
      if (!id.empty()) return id;
    }
  }
  for (const Phrase& phrase : kPhrases) {
    for (std::size_t at = message.find(phrase.before); at != std::string_view::npos;
         at = message.find(phrase.before, at + 1)) {
      const std::string_view rest = message.substr(at + phrase.before.size());
      const std::string_view id = id_at(rest);
      const bool whole = at == 0 || !is_word(message[at - 1]);
      if (whole && !id.empty() && starts_with(rest.substr(id.size()), phrase.after)) return id;
    }
  }
  return "";
}

}  // namespace teller
