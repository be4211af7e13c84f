#include "redact/value.h"

namespace teller {

namespace {

constexpr std::string_view kTokenEnds = " \t\r\n'\"`,;()[]{}<>|&\\";

bool is_alnum(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         static_cast<unsigned char>(c) >= 0x80;
}

}  // namespace

ValueEnd ValueEnd::token() {
  return {};
}

ValueEnd ValueEnd::quoted(char quote, bool escaped) {
  ValueEnd value;
  value.mode_ = Mode::kQuoted;
  value.quote_ = quote;
  value.escaped_ = escaped;
  return value;
}

ValueEnd ValueEnd::nested() {
  ValueEnd value;
  value.mode_ = Mode::kNested;
  return value;
}

bool ValueEnd::is_quote(char c) const {
  return c == quote_ && (escaped_ ? slashes_ == 1 : slashes_ % 2 == 0);
}

std::size_t ValueEnd::find(std::string_view text, bool whole) {
  if (mode_ == Mode::kToken) return text.find_first_of(kTokenEnds);
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    // An apostrophe inside a word ends nothing: programs print prompts without escaping them.
    if (pending_) {
      pending_ = false;
      if (!is_alnum(c)) {
        if (mode_ == Mode::kQuoted) return at;
        quote_ = '\0';
      }
    }
    if (quote_ != '\0') {
      pending_ = is_quote(c);
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
