#include "logs/prefix.h"

#include <charconv>

#include "logs/text.h"

namespace teller {

namespace {

// Longer process prefixes are text that happens to begin with a parenthesis.
constexpr std::size_t kMaxPrefix = 256;

std::int32_t* rank_named(std::string_view word, LogRanks& ranks) {
  if (word == "DP") return &ranks.dp;
  if (word == "PP") return &ranks.pp;
  if (word == "TP") return &ranks.tp;
  if (word == "EP") return &ranks.ep;
  return nullptr;
}

std::int64_t number_at(std::string_view text) {
  std::int64_t number = -1;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// The inside of "(VllmWorker rank=1 pid=2978)", "(RayWorkerWrapper pid=67451, ip=10.1.0.7)",
// "(raylet)", "(raylet, ip=10.1.0.7)".
bool read_process(std::string_view inside, LogFields& fields) {
  const std::size_t name_end = inside.find_first_of(" ,");
  const std::string_view name = inside.substr(0, name_end);
  const std::size_t pid = inside.find("pid=");
  const bool ray = name == "raylet" || name == "gcs_server" || name == "autoscaler";
  if (name.empty() || (pid == std::string_view::npos && !ray)) return false;
  if (pid != std::string_view::npos) {
    const std::int64_t number = number_at(inside.substr(pid + 4));
    if (number < 0) return false;
    fields.pid = number;
  }
  fields.process = name;
  read_ranks(inside.substr(0, pid), fields.ranks);
  if (const std::size_t rank = inside.find(" rank="); rank != std::string_view::npos) {
    fields.ranks.global = static_cast<std::int32_t>(number_at(inside.substr(rank + 6)));
  }
  return true;
}

bool take_process(std::string_view& text, LogFields& fields) {
  if (!text.starts_with("(")) return false;
  const std::size_t close = text.substr(0, kMaxPrefix).find(')');
  if (close == std::string_view::npos) return false;
  if (!read_process(text.substr(1, close - 1), fields)) return false;
  text.remove_prefix(close + 1);
  if (text.starts_with(" ")) text.remove_prefix(1);
  fields.named = fields.prefixed = true;
  return true;
}

// "[rank3]:", "rank3:", "[default0]:" in front of lines of launched processes.
bool take_rank(std::string_view& text, LogFields& fields) {
  Cursor cursor(text);
  const bool bracket = cursor.take("[");
  const bool local = cursor.take("default");
  if (!local && !cursor.take("rank")) return false;
  const auto rank = cursor.digits(1, 7);
  if (!rank || (bracket && !cursor.take("]")) || !cursor.take(":")) return false;
  (local ? fields.ranks.local : fields.ranks.global) = static_cast<std::int32_t>(*rank);
  fields.named = true;
  text = cursor.rest();
  return true;
}

}  // namespace

std::int32_t rank_number(std::string_view text) {
  Cursor cursor(text);
  const auto number = cursor.digits(1, 7);
  return number && cursor.at_end() ? static_cast<std::int32_t>(*number) : -1;
}

void read_ranks(std::string_view text, LogRanks& ranks) {
  while (!text.empty()) {
    const std::size_t end = text.find_first_of(" _");
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (word.size() < 3) continue;
    const std::int32_t rank = rank_number(word.substr(2));
    std::int32_t* const place = rank_named(word.substr(0, 2), ranks);
    if (place != nullptr && rank >= 0) *place = rank;
  }
}

void take_prefixes(std::string_view& text, LogFields& fields) {
  while (take_process(text, fields) || take_rank(text, fields)) {
  }
  // "[rank0]: Traceback": the blank belongs to the prefix, deeper indents to the text.
  if (fields.ranks.global >= 0 && text.starts_with(" ")) text.remove_prefix(1);
}

}  // namespace teller
