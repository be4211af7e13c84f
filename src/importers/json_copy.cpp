#include <algorithm>
#include <array>
#include <cstdint>

#include "base/json.h"
#include "importers/json_text.h"

namespace teller {

namespace {

constexpr int kMaxDepth = 60;

// Whether `token` is a number as JSON writes it.
bool is_json_number(std::string_view token) {
  std::size_t at = 0;
  const auto digits = [&] {
    const std::size_t first = at;
    while (at < token.size() && token[at] >= '0' && token[at] <= '9') ++at;
    return at - first;
  };
  if (at < token.size() && token[at] == '-') ++at;
  const std::size_t start = at;
  const std::size_t whole = digits();
  if (whole == 0 || (whole > 1 && token[start] == '0')) return false;
  if (at < token.size() && token[at] == '.') {
    ++at;
    if (digits() == 0) return false;
  }
  if (at < token.size() && (token[at] == 'e' || token[at] == 'E')) {
    ++at;
    if (at < token.size() && (token[at] == '+' || token[at] == '-')) ++at;
    if (digits() == 0) return false;
  }
  return at == token.size();
}

bool is_json_scalar(std::string_view token) {
  return is_json_number(token) || token == "true" || token == "false" || token == "null";
}

// End of the string token whose opening quote is at `at`; npos if it never ends or an escape is
// wrong.
std::size_t string_end(std::string_view text, std::size_t at) {
  for (++at; at < text.size(); ++at) {
    if (text[at] == '"') return at + 1;
    if (text[at] != '\\') continue;
    const JsonEscape escape = json_escape(text.substr(at));
    if (escape.length == 0) return std::string_view::npos;
    at += escape.length - 1;
  }
  return std::string_view::npos;
}

bool is_structure(char c) {
  return c == '{' || c == '}' || c == '[' || c == ']' || c == ',' || c == ':';
}

std::size_t scalar_end(std::string_view text, std::size_t at) {
  while (at < text.size() && !is_json_blank(text[at]) && !is_structure(text[at]) &&
         text[at] != '"') {
    ++at;
  }
  return at;
}

// Copies the tokens of one JSON value and checks that they follow the grammar.
class Copier {
 public:
  Copier(std::string_view raw, std::string& out) : raw_(raw), out_(out) {}

  CopyResult copy() {
    while (at_ < raw_.size()) {
      const char c = raw_[at_];
      if (is_json_blank(c)) {
        ++at_;
        continue;
      }
      const CopyResult step = is_structure(c) ? structure(c) : c == '"' ? string() : scalar();
      if (step == CopyResult::kMalformed || step == CopyResult::kNeedsRepair) return step;
      if (step == CopyResult::kMended) result_ = step;
    }
    return depth_ == 0 && expect_ == Expect::kSeparator ? result_ : CopyResult::kMalformed;
  }

 private:
  enum class Expect { kValue, kValueOrEnd, kKey, kKeyOrEnd, kColon, kSeparator };

  bool in_object() const { return depth_ > 0 && ((objects_ >> (depth_ - 1)) & 1) != 0; }
  bool wants_value() const { return expect_ == Expect::kValue || expect_ == Expect::kValueOrEnd; }

  CopyResult structure(char c) {
    out_ += c;
    ++at_;
    bool fine = false;
    if (c == '{' || c == '[') {
      fine = wants_value() && depth_ < kMaxDepth;
      if (fine) open(c == '{');
    } else if (c == ':') {
      fine = expect_ == Expect::kColon;
      expect_ = Expect::kValue;
    } else if (c == ',') {
      fine = expect_ == Expect::kSeparator && depth_ > 0;
      expect_ = in_object() ? Expect::kKey : Expect::kValue;
    } else {
      const bool empty = expect_ == (c == '}' ? Expect::kKeyOrEnd : Expect::kValueOrEnd);
      fine = depth_ > 0 && in_object() == (c == '}') && (empty || expect_ == Expect::kSeparator);
      if (fine) --depth_;
      expect_ = Expect::kSeparator;
    }
    return fine ? CopyResult::kClean : CopyResult::kMalformed;
  }

  void open(bool object) {
    const std::uint64_t bit = std::uint64_t{1} << depth_;
    objects_ = object ? objects_ | bit : objects_ & ~bit;
    ++depth_;
    expect_ = object ? Expect::kKeyOrEnd : Expect::kValueOrEnd;
  }

  CopyResult string() {
    const std::size_t end = string_end(raw_, at_);
    if (end == std::string_view::npos) return CopyResult::kNeedsRepair;
    out_.append(raw_.data() + at_, end - at_);
    at_ = end;
    if (expect_ == Expect::kKey || expect_ == Expect::kKeyOrEnd) {
      expect_ = Expect::kColon;
      return CopyResult::kClean;
    }
    const bool fine = wants_value();
    expect_ = Expect::kSeparator;
    return fine ? CopyResult::kClean : CopyResult::kMalformed;
  }

  CopyResult scalar() {
    const std::size_t end = scalar_end(raw_, at_);
    const std::string_view token = raw_.substr(at_, end - at_);
    at_ = end;
    if (!wants_value()) return CopyResult::kMalformed;
    expect_ = Expect::kSeparator;
    if (is_json_scalar(token)) {
      out_.append(token);
      return CopyResult::kClean;
    }
    append_quoted(token, out_);
    return CopyResult::kMended;
  }

  std::string_view raw_;
  std::string& out_;
  std::size_t at_ = 0;
  int depth_ = 0;
  std::uint64_t objects_ = 0;  // bit d: the container at depth d + 1 is an object
  Expect expect_ = Expect::kValue;
  CopyResult result_ = CopyResult::kClean;
};

}  // namespace

JsonTreeFit json_tree_fit(std::string_view json) {
  constexpr std::uint32_t kMembers = 4096;
  std::array<std::uint32_t, kMaxJsonDepth + 1>
      colons{};  // per level, of the value that is open there
  int depth = 0;
  std::size_t values = 0;
  bool in_string = false;
  for (std::size_t at = 0; at < json.size(); ++at) {
    const char c = json[at];
    if (!in_string && (c == ',' || c == '{' || c == '[') && ++values > kMostJsonValues) {
      return JsonTreeFit::kManyValues;
    }
    if (in_string) {
      if (c == '\\') ++at;
      in_string = c != '"';
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      if (++depth > kMaxJsonDepth) return JsonTreeFit::kTooDeep;
      colons[depth] = 0;
    } else if (c == '}' || c == ']') {
      depth = std::max(depth - 1, 0);
    } else if (c == ':' && ++colons[depth] > kMembers) {
      return JsonTreeFit::kManyMembers;
    }
  }
  return JsonTreeFit::kFits;
}

CopyResult append_compact(std::string_view raw, std::string& out) {
  return Copier(raw, out).copy();
}

}  // namespace teller
