// Formats that Python programs choose: SGLang and others with a bracketed time, "time - name -
// LEVEL - message", and one JSON object per line.
#include "logs/formats.h"
#include "logs/prefix.h"
#include "logs/text.h"

namespace teller {

namespace {

constexpr std::size_t kMaxToken = 160;
constexpr std::size_t kMaxKeys = 32;
// A level that stands in the line stands near its begin.
constexpr std::size_t kNear = 160;

// "[RANK 0] [E] [426] [core.py:12:step] …": takes the tokens that say something off the front.
void take_tokens(Cursor& cursor, LogFields& fields) {
  for (bool first = true; cursor.peek() == '['; first = false) {
    Cursor tried = cursor;
    tried.take("[");
    const auto token = tried.until("]", kMaxToken);
    if (!token) return;
    tried.take("]");
    tried.take(" ");
    const std::string_view level =
        token->size() == 1 ? level_of_letter(token->front()) : level_at(*token);
    const std::size_t second_colon = token->find(':', token->find(':') + 1);
    if (*token == "TRT-LLM" || *token == "TensorRT-LLM") {
      fields.format = LogFormat::kTensorRt;
    } else if (!level.empty()) {
      fields.level = level;
    } else if (token->starts_with("RANK ")) {
      fields.ranks.global = rank_number(token->substr(5));
    } else if (first && rank_number(*token) >= 0) {
      fields.pid = rank_number(*token);
    } else if (is_source(token->substr(0, second_colon))) {
      fields.source = token->substr(0, second_colon);
    } else {
      return;
    }
    cursor = tried;
  }
}

// " DP0 PP1 TP3" between the time and the bracket; false if something else stands there.
bool only_ranks(std::string_view text) {
  while (!text.empty()) {
    Cursor cursor(text);
    if (!cursor.take(" ")) return false;
    const std::string_view word = cursor.word();
    const bool named = word.starts_with("DP") || word.starts_with("PP") || word.starts_with("TP") ||
                       word.starts_with("EP");
    if (!named || rank_number(word.substr(2)) < 0) return false;
    text = cursor.rest();
  }
  return true;
}

// The value of `"key": "value"` or a bare one; views point into `text`. False at the end.
bool take_pair(Cursor& cursor, std::string_view& key, std::string_view& value) {
  const auto string = [&](std::string_view& out) {
    if (!cursor.take("\"")) return false;
    const std::string_view rest = cursor.rest();
    std::size_t at = 0;
    while (at < rest.size() && rest[at] != '"') at += rest[at] == '\\' ? 2 : 1;
    if (at >= rest.size()) return false;
    out = rest.substr(0, at);
    cursor = Cursor(rest.substr(at + 1));
    return true;
  };
  cursor.skip_blanks();
  if (!string(key)) return false;
  cursor.skip_blanks();
  if (!cursor.take(":")) return false;
  cursor.skip_blanks();
  if (cursor.peek() != '"') {
    const auto bare = cursor.until(",}", kMaxToken);
    if (!bare) return false;
    value = *bare;
  } else if (!string(value)) {
    return false;
  }
  cursor.skip_blanks();
  cursor.take(",");
  return true;
}

void set_json_field(std::string_view key, std::string_view value, LogFields& fields) {
  if (key == "levelname" || key == "level" || key == "severity") fields.level = level_at(value);
  if (key == "message" || key == "msg") fields.message = value;
  if (key == "processName" || key == "vllm_process_name") fields.process = value;
  if (key == "process" || key == "pid") {
    Cursor digits(value);
    if (const auto pid = digits.digits(1, 10)) fields.pid = *pid;
  }
  if (key == "asctime" || key == "timestamp" || key == "time") {
    if (const auto stamp = take_stamp(value)) fields.stamp = *stamp;
  }
}

}  // namespace

bool read_bracketed(std::string_view text, LogFields& fields) {
  if (!text.starts_with("[")) return false;
  Cursor cursor(text);
  for (const std::string_view native : {"[TensorRT-LLM][", "[TensorRT-LLM] [", "[TRT-LLM] ["}) {
    if (!text.starts_with(native)) continue;
    take_tokens(cursor, fields);
    fields.message = cursor.rest();
    return true;
  }
  std::string_view rest = text.substr(1);
  const auto stamp = take_stamp(rest);
  if (!stamp || stamp->clock == StampClock::kMonotonic) return false;
  cursor = Cursor(rest);
  const auto ranks = cursor.until("]", kMaxToken);
  if (!ranks || !only_ranks(*ranks)) return false;
  cursor.take("]");
  cursor.take(" ");
  read_ranks(*ranks, fields.ranks);
  const Cursor before = cursor;
  take_tokens(cursor, fields);
  const bool tokens = cursor.rest().size() != before.rest().size();
  if (fields.format == LogFormat::kNone) {
    fields.format = tokens ? LogFormat::kBracketed : LogFormat::kSglang;
  }
  if (fields.level.empty()) fields.level = level_at(cursor.rest());
  fields.stamp = *stamp;
  fields.message = cursor.rest();
  return true;
}

// "2024-03-15 12:39:26,101 - root - INFO - …", "[titan] 2024-…", "module: [ERROR] …".
bool read_python(std::string_view text, LogFields& fields) {
  Cursor cursor(text);
  Cursor named = cursor;
  if (named.take("[titan] ")) cursor = named;
  std::string_view rest = cursor.rest();
  const auto stamp = take_stamp(rest);
  const bool dated = stamp && stamp->clock != StampClock::kMonotonic &&
                     stamp->clock != StampClock::kUnix && stamp->day > 0;
  if (!dated) rest = cursor.rest();
  const std::string_view head = rest.substr(0, kNear);
  for (const std::string_view mark : {" - ", "[", "] ", " "}) {
    for (std::size_t at = head.find(mark); at != std::string_view::npos;
         at = head.find(mark, at + 1)) {
      if (mark == " " && (at != 0 || !dated)) break;
      const std::string_view level = level_at(head.substr(at + mark.size()));
      if (level.empty()) continue;
      cursor = Cursor(rest.substr(at + mark.size()));
      cursor.word();
      const bool closed = cursor.take("]");
      if (mark == "[" && !closed) continue;
      for (const std::string_view dash : {" - ", ": ", " "}) {
        if (cursor.take(dash)) break;
      }
      fields.level = level;
      fields.message = cursor.rest();
      if (dated) fields.stamp = *stamp;
      fields.format = LogFormat::kPython;
      return true;
    }
  }
  if (!dated || stamp->year < 0) return false;
  fields.stamp = *stamp;
  fields.message = rest.substr(rest.starts_with(" ") ? 1 : 0);
  fields.format = LogFormat::kPython;
  return true;
}

bool read_json(std::string_view text, LogFields& fields) {
  if (!text.starts_with("{\"")) return false;
  Cursor cursor(text.substr(1));
  LogFields found = fields;
  found.message = "";
  std::string_view key;
  std::string_view value;
  for (std::size_t keys = 0; keys < kMaxKeys && take_pair(cursor, key, value); ++keys) {
    set_json_field(key, value, found);
  }
  if (found.level.empty() || found.message.empty()) return false;
  fields = found;
  fields.format = LogFormat::kJson;
  return true;
}

}  // namespace teller
