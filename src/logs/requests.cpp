// The ids of requests that messages state.
#include <algorithm>
#include <initializer_list>

#include "logs/line.h"
#include "logs/text.h"

namespace teller {

namespace {

constexpr std::size_t kMaxIds = 64;

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

// Takes one of `any` off the front.
bool skip(std::string_view& text, std::string_view any) {
  const bool there = !text.empty() && any.find(text.front()) != std::string_view::npos;
  if (there) text.remove_prefix(1);
  return there;
}

using Ids = std::vector<std::string_view>;

void add_id(Ids& ids, std::string_view id) {
  if (ids.size() < kMaxIds && std::find(ids.begin(), ids.end(), id) == ids.end()) ids.push_back(id);
}

// The ids in "=ID", ": ID", "\": \"ID\"", "=['ID', 'ID']".
void add_ids_behind_key(std::string_view text, Ids& ids) {
  skip(text, "'\"");
  if (!skip(text, "=:")) return;
  skip(text, " ");
  const bool list = skip(text, "[");
  do {
    skip(text, " ");
    skip(text, "'\"");
    const std::string_view id = id_at(text);
    if (id.empty()) return;
    add_id(ids, id);
    text.remove_prefix(id.size());
    skip(text, "'\"");
  } while (list && skip(text, ",") && ids.size() < kMaxIds);
}

}  // namespace

std::vector<std::string_view> stated_requests(std::string_view message) {
  Ids ids;
  for (const std::string_view key : {"request_id", "request id", "req_id", "rids", "rid"}) {
    for (std::size_t at = find_word(message, key, 0);
         at != std::string_view::npos && ids.size() < kMaxIds;
         at = find_word(message, key, at + 1)) {
      add_ids_behind_key(message.substr(at + key.size()), ids);
    }
  }
  for (const Phrase& phrase : kPhrases) {
    for (std::size_t at = message.find(phrase.before);
         at != std::string_view::npos && ids.size() < kMaxIds;
         at = message.find(phrase.before, at + 1)) {
      const std::string_view rest = message.substr(at + phrase.before.size());
      const std::string_view id = id_at(rest);
      const bool whole = at == 0 || !is_word(message[at - 1]);
      if (whole && !id.empty() && rest.substr(id.size()).starts_with(phrase.after)) {
        add_id(ids, id);
      }
    }
  }
  return ids;
}

std::string_view stated_request(std::string_view message) {
  const std::vector<std::string_view> ids = stated_requests(message);
  return ids.empty() ? "" : ids.front();
}

}  // namespace teller
