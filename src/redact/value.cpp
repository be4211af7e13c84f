#include "redact/value.h"

#include "redact/chars.h"

namespace teller {

namespace {

constexpr std::string_view kTokenEnds = " \t\r\n'\"`,;()[]{}<>|&\\";
constexpr std::string_view kWordEnds = " \t\r\n'\"`";
constexpr std::string_view kPemEnd = "-----END";

bool is_letter(char c) {
  return is_alnum(c) || static_cast<unsigned char>(c) >= 0x80;
}

}  // namespace

ValueEnd ValueEnd::token() {
  return {};
}

ValueEnd ValueEnd::word(bool query) {
  ValueEnd value;
  value.mode_ = Mode::kWord;
  value.query_ = query;
  return value;
}

ValueEnd ValueEnd::line() {
  ValueEnd value;
  value.mode_ = Mode::kLine;
  return value;
}

ValueEnd ValueEnd::quoted(char quote, bool escaped) {
  ValueEnd value;
  value.mode_ = Mode::kQuoted;
  value.quote_ = quote;
  value.escaped_ = escaped;
  return value;
}

ValueEnd ValueEnd::triple(char quote) {
  ValueEnd value;
  value.mode_ = Mode::kTriple;
  value.quote_ = quote;
  return value;
}

ValueEnd ValueEnd::nested() {
  ValueEnd value;
  value.mode_ = Mode::kNested;
  return value;
}

ValueEnd ValueEnd::pem() {
  ValueEnd value;
  value.mode_ = Mode::kPem;
  return value;
}

bool ValueEnd::ends_string(char c) const {
  return c == quote_ && (escaped_ ? slashes_ == 1 : slashes_ % 2 == 0);
}

// Colours are no part of a value, and their bracket opens nothing.
bool ValueEnd::in_control(char c) {
  if (control_ == 2) {
    if (ends_control(c)) control_ = 0;
    return true;
  }
  if (control_ == 1 && c == '[') {
    control_ = 2;
    return true;
  }
  control_ = c == '\x1b' ? 1 : 0;
  return control_ == 1;
}

std::size_t ValueEnd::find_bare(std::string_view text) {
  const std::string_view ends = mode_ == Mode::kToken ? kTokenEnds : kWordEnds;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (in_control(text[at])) continue;
    if (ends.find(text[at]) != std::string_view::npos || (query_ && text[at] == '&')) return at;
  }
  return std::string_view::npos;
}

std::size_t ValueEnd::find_triple(std::string_view text) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool ends = matched_ > 0 ? text[at] == quote_ : ends_string(text[at]);
    matched_ = ends ? matched_ + 1 : 0;
    if (matched_ == 3) return at + 1;
    slashes_ = text[at] == '\\' ? slashes_ + 1 : 0;
  }
  return std::string_view::npos;
}

std::size_t ValueEnd::find_pem(std::string_view text) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == kPemEnd[matched_]) {
      if (++matched_ == kPemEnd.size()) return at + 1;
    } else if (c == '-') {
      matched_ = matched_ == 5 ? 5 : 1;  // more than five
    } else {
      matched_ = 0;
    }
  }
  return std::string_view::npos;
}

std::size_t ValueEnd::find(std::string_view text, bool whole) {
  if (mode_ == Mode::kLine) return std::string_view::npos;
  if (mode_ == Mode::kToken || mode_ == Mode::kWord) return find_bare(text);
  if (mode_ == Mode::kTriple) return find_triple(text);
  if (mode_ == Mode::kPem) return find_pem(text);
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    // An apostrophe inside a word ends nothing: programs print prompts without escaping them.
    if (pending_) {
      pending_ = false;
      if (!is_letter(c)) {
        if (mode_ == Mode::kQuoted) return at;
        quote_ = '\0';
      }
    }
    if (quote_ != '\0') {
      pending_ = ends_string(c);
    } else if (in_control(c)) {
      continue;
    } else if (c == '\'' || c == '"') {
      quote_ = c;
      escaped_ = slashes_ == 1;
    } else if (c == '[' || c == '(' || c == '{') {
      ++depth_;
    } else if (c == ']' || c == ')' || c == '}') {
      if (--depth_ == 0) return at + 1;
    }
    slashes_ = c == '\\' ? slashes_ + 1 : 0;
  }
  return whole && pending() ? text.size() : std::string_view::npos;
}

}  // namespace teller
