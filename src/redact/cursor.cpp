#include "redact/cursor.h"

#include <algorithm>

#include "redact/chars.h"
#include "redact/value.h"

namespace teller {

namespace {

constexpr std::size_t kNone = std::string_view::npos;

char lower(char c) {
  return is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c;
}

}  // namespace

std::size_t Cursor::skip_controls(std::size_t from) const {
  while (at(from) == '\x1b') {
    const std::size_t size = control_size(text_.substr(from));
    if (size == 0) break;
    from += size;
  }
  return from;
}

std::size_t Cursor::skip_blanks(std::size_t from) const {
  from = skip_controls(from);
  while (is_blank(at(from))) from = skip_controls(from + 1);
  return from;
}

std::size_t Cursor::quote_size(std::size_t from) const {
  std::size_t size = 0;
  constexpr std::string_view kPrefixes = "bBuUrRfF";
  while (size < 2 && at(from + size) != '\0' && kPrefixes.find(at(from + size)) != kNone) ++size;
  if (at(from + size) == '\\') ++size;
  return is_quote(at(from + size)) ? size + 1 : 0;
}

std::string_view Cursor::token_at(std::size_t from) const {
  constexpr std::size_t kMaxToken = 64;
  return text_.substr(std::min(from, text_.size()), kMaxToken)
      .substr(0,
              ValueEnd::token().find(text_.substr(std::min(from, text_.size()), kMaxToken), true));
}

bool Cursor::is_digits(std::size_t from) const {
  const std::string_view token = token_at(from);
  return !token.empty() && std::all_of(token.begin(), token.end(), is_digit);
}

bool Cursor::is_mixed(std::size_t from) const {
  constexpr std::size_t kLeast = 8;
  constexpr std::size_t kUnit = 3;
  const std::string_view token = token_at(from + quote_size(from));
  const std::size_t unit = token.find_first_not_of("0123456789.+-");
  if (token.size() < kLeast || unit == kNone || token.size() - unit <= kUnit) return false;
  return std::any_of(token.begin(), token.end(), is_digit) &&
         std::any_of(token.begin(), token.end(), is_alpha);
}

bool Cursor::holds_strings(std::size_t from) const {
  while (at(from) == '[' || at(from) == '(' || at(from) == '{' || is_blank(at(from))) ++from;
  return from >= text_.size() || quote_size(from) > 0;
}

bool Cursor::holds_value(std::size_t bracket) const {
  constexpr std::size_t kMaxName = 64;
  std::size_t end = bracket + 1;
  while (end - bracket < kMaxName && (is_alnum(at(end)) || at(end) == '_')) ++end;
  return holds_strings(at(end) == '=' ? end + 1 : bracket);
}

std::size_t Cursor::behind_type(std::size_t from) const {
  for (const std::string_view type :
       {"str", "Optional[str]", "str | None", "SecretStr", "bytes", "Any", "list[str]"}) {
    if (text_.substr(std::min(from, text_.size())).starts_with(type)) {
      const std::size_t behind = skip_blanks(from + type.size());
      if (at(behind) == '=') return skip_blanks(behind + 1);
    }
  }
  return from;
}

std::size_t Cursor::behind_unknown_scheme(std::size_t from) const {
  constexpr std::size_t kMaxScheme = 32;
  std::size_t end = from;
  while (end - from < kMaxScheme && (is_alpha(at(end)) || at(end) == '-')) ++end;
  return end > from && is_blank(at(end)) ? skip_blanks(end) : from;
}

bool Cursor::hides_nothing(std::size_t from) const {
  const std::string_view token = token_at(from);
  const char behind = at(from + token.size());
  return !token.empty() && is_alpha(token[0]) && is_nothing(token) &&
         (behind == ',' || behind == ')' || behind == ']' || behind == '}');
}

std::size_t Cursor::behind_call(std::size_t from) const {
  constexpr std::size_t kMaxCall = 64;
  std::size_t end = from;
  while (end - from < kMaxCall && (is_alnum(at(end)) || at(end) == '_' || at(end) == '.')) ++end;
  return at(end) == '(' ? end : from;
}

bool same_word(std::string_view word, std::string_view lower_word) {
  return std::equal(word.begin(), word.end(), lower_word.begin(), lower_word.end(),
                    [](char a, char b) { return lower(a) == b; });
}

bool is_nothing(std::string_view value) {
  // "None" with the colour's end behind it.
  while (value.ends_with('m')) {
    const std::size_t control = value.rfind('\x1b');
    if (control == kNone || control + control_size(value.substr(control)) != value.size()) break;
    value = value.substr(0, control);
  }
  for (const std::string_view word : {"", "None", "null", "True", "False", "true", "false", "none",
                                      "''", "\"\"", "[]", "()", "{}", "str"}) {
    if (value == word) return true;
  }
  return value.find_first_not_of("*.'\"") == kNone;
}

std::size_t scheme_size(std::string_view text) {
  std::size_t size = 0;
  while (size < text.size() && (is_alnum(text[size]) || text[size] == '-') && size < 32) ++size;
  const std::string_view word = text.substr(0, size);
  for (const std::string_view scheme :
       {"bearer", "basic", "token", "apikey", "api-key", "digest", "negotiate", "ntlm", "key",
        "hmac", "aws4-hmac-sha256", "splunk", "geniekey", "ssws", "bot"}) {
    if (!same_word(word, scheme) || size == text.size() || !is_blank(text[size])) continue;
    while (size < text.size() && is_blank(text[size])) ++size;
    return size;
  }
  return 0;
}

}  // namespace teller
