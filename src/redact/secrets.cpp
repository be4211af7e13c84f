#include "redact/secrets.h"

#include <algorithm>

#include "redact/redact.h"

namespace teller {

namespace {

constexpr std::size_t kNone = std::string_view::npos;
// A user and a password in front of a host.
constexpr std::size_t kMaxUserInfo = 1024;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_upper(char c) {
  return c >= 'A' && c <= 'Z';
}
bool is_alnum(char c) {
  return is_digit(c) || is_upper(c) || (c >= 'a' && c <= 'z');
}
bool is_name(char c) {
  return is_alnum(c) || c == '_' || c == '-';
}
bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

// Values that hide nothing.
bool is_nothing(std::string_view value) {
  for (const std::string_view word : {"", "None", "null", "True", "False", "true", "false", "none",
                                      "''", "\"\"", "[]", "()", "{}", "str"}) {
    if (value == word) return true;
  }
  return value.find_first_not_of("*.'\"") == kNone;
}

class Finder {
 public:
  Finder(std::string_view text, bool whole) : text_(text), whole_(whole) {}

  std::vector<Secret> find() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (is_name(c)) {
        name();
      } else if (c == ':' && text_.substr(at_, 3) == "://") {
        user_info();
      } else {
        ++at_;
      }
    }
    return std::move(found_);
  }

 private:
  char at(std::size_t index) const { return index < text_.size() ? text_[index] : '\0'; }
  std::size_t skip_blanks(std::size_t from) const {
    while (is_blank(at(from))) ++from;
    return from;
  }

  // A name, or a token that looks like one: "api_key", "hf_…", "sk-…".
  void name() {
    std::size_t begin = at_;
    std::size_t end = begin;
    while (end < text_.size() && is_name(text_[end])) ++end;
    at_ = end;
    const bool option = text_.substr(begin, 2) == "--";
    while (begin < end && text_[begin] == '-') ++begin;
    const std::string_view word = text_.substr(begin, end - begin);
    if (token(word, begin)) return;
    if (word == "Bearer" || word == "bearer") return bearer(begin, end);
    key(word, begin, end, option);
  }

  void add(SecretKind kind, std::size_t context, std::size_t begin, ValueEnd value) {
    Secret secret;
    secret.kind = kind;
    secret.context = context;
    secret.begin = begin;
    const std::size_t size = value.find(text_.substr(std::min(resume_, text_.size())), whole_);
    secret.end = size == kNone ? text_.size() : resume_ + size;
    secret.open =
        size == kNone && (!whole_ || kind == SecretKind::kPrompt || kind == SecretKind::kTokenIds);
    secret.value = value;
    const std::string_view text = text_.substr(begin, secret.end - begin);
    at_ = std::max(at_, secret.end);
    if (!secret.open && is_nothing(text)) return;
    if (text.starts_with("<redacted:")) return;
    found_.push_back(secret);
  }

  // Tokens that say themselves what they are.
  bool token(std::string_view word, std::size_t begin) {
    const auto alone = [&](std::string_view front, std::size_t rest, bool digit) {
      if (!word.starts_with(front) || word.size() < front.size() + rest) return false;
      return !digit || std::any_of(word.begin(), word.end(), is_digit);
    };
    const auto all = [&](std::size_t from, bool (*test)(char)) {
      return std::all_of(word.begin() + static_cast<std::ptrdiff_t>(from), word.end(), test);
    };
    SecretKind kind = SecretKind::kApiKey;
    if (alone("hf_", 16, false) && all(3, is_alnum)) {
      kind = SecretKind::kHfToken;
    } else if ((word.starts_with("AKIA") || word.starts_with("ASIA")) && word.size() == 20 &&
               all(4, [](char c) { return is_upper(c) || is_digit(c); })) {
      kind = SecretKind::kAwsKey;
    } else if (alone("eyJ", 16, false) && at(begin + word.size()) == '.') {
      kind = SecretKind::kBearer;  // a JSON web token: three parts with points between
    } else if (!alone("sk-", 8, true) && !alone("ghp_", 20, false) &&
               !alone("github_pat_", 20, false) && !alone("nvapi-", 16, false)) {
      return false;
    }
    resume_ = begin;
    add(kind, begin, begin, ValueEnd::token());
    return true;
  }

  void bearer(std::size_t begin, std::size_t end) {
    const std::size_t value = skip_blanks(end);
    std::size_t behind = value;
    while (behind < text_.size() && (is_name(text_[behind]) || text_[behind] == '.')) ++behind;
    if (value == end || behind - value < 6) return;
    resume_ = value;
    add(SecretKind::kBearer, begin, value, ValueEnd::token());
  }

  // "api_key=…", "'api_key': '…'", "--api-key …", "VLLM_API_KEY=…", "prompt: '…'".
  void key(std::string_view word, std::size_t begin, std::size_t end, bool option) {
    std::size_t from = end;
    if (at(from) == '\\') ++from;
    const bool in_quotes = at(from) == '\'' || at(from) == '"';
    from = skip_blanks(in_quotes ? from + 1 : end);
    const char separator = at(from);
    const bool assigned = separator == '=' || separator == ':';
    const bool given = option && from != end && separator != '-';  // --api-key VALUE
    if (!assigned && !given) return;
    KeyMeaning meaning = meaning_of_key(word);
    if (meaning == KeyMeaning::kNone && separator == '=' && is_secret_variable(word)) {
      meaning = KeyMeaning::kApiKey;
    }
    const char before = begin > 0 ? text_[begin - 1] : '\0';
    const bool query = separator == '=' && (before == '?' || before == '&');
    if (meaning == KeyMeaning::kNone && (option || query) && is_secret_option(word)) {
      meaning = KeyMeaning::kApiKey;
    }
    const bool prompt = meaning == KeyMeaning::kPrompt || meaning == KeyMeaning::kTokenIds;
    if (meaning == KeyMeaning::kNone || (prompt && !assigned)) return;
    from = skip_blanks(assigned ? from + 1 : from);
    if (meaning == KeyMeaning::kAuthorization) from = behind_scheme(from);
    value(secret_kind_of(meaning), begin, from, prompt);
  }

  // "VLLM_API_KEY", "HF_TOKEN"; not "MAX_TOKENS", "PASS".
  static bool is_secret_variable(std::string_view word) {
    const bool variable = std::all_of(
        word.begin(), word.end(), [](char c) { return is_upper(c) || is_digit(c) || c == '_'; });
    if (!variable) return false;
    for (const std::string_view end :
         {"_KEY", "_TOKEN", "_SECRET", "_PASS", "_PASSWORD", "_CREDENTIALS", "_AUTH"}) {
      if (word.ends_with(end)) return true;
    }
    return word == "TOKEN" || word == "PASSWORD" || word == "SECRET";
  }
  static bool is_secret_option(std::string_view word) {
    return word == "token" || word == "key" || word == "secret" || word.ends_with("-token");
  }

  // "Bearer TOKEN", "Basic TOKEN" behind "Authorization:".
  std::size_t behind_scheme(std::size_t from) const {
    if (at(from) == '\'' || at(from) == '"') ++from;
    for (const std::string_view scheme : {"Bearer ", "bearer ", "Basic ", "Token "}) {
      if (text_.substr(from, scheme.size()) == scheme) return skip_blanks(from + scheme.size());
    }
    return from;
  }

  void value(SecretKind kind, std::size_t context, std::size_t begin, bool prompt) {
    resume_ = begin;
    if (at(resume_) == 'b' || at(resume_) == 'u' || at(resume_) == 'r') {
      if (at(resume_ + 1) == '\'' || at(resume_ + 1) == '"') ++resume_;  // b'…'
    }
    for (const std::string_view maker : {"tensor(", "array("}) {
      if (text_.substr(resume_, maker.size()) == maker) resume_ += maker.size() - 1;
    }
    const bool escaped = at(resume_) == '\\';
    const char c = at(resume_ + (escaped ? 1 : 0));
    if (c == '\'' || c == '"') {
      resume_ += escaped ? 2 : 1;
      return add(kind, context, begin, ValueEnd::quoted(c, escaped));
    }
    if (c == '[' || c == '(' || c == '{') {
      ++resume_;
      return add(kind, context, begin, ValueEnd::nested());
    }
    if (prompt) return;
    resume_ = begin;
    add(kind, context, begin, ValueEnd::token());
  }

  // "scheme://user:password@host".
  void user_info() {
    const std::size_t begin = at_ + 3;
    const std::string_view rest = text_.substr(begin, kMaxUserInfo);
    const std::string_view info = rest.substr(0, rest.find_first_of("/ \t'\"<>?#"));
    const std::size_t host = info.rfind('@');
    const std::size_t colon = info.find(':');
    if (host != kNone && colon != kNone && colon + 1 < host) {
      Secret secret;
      secret.kind = SecretKind::kPassword;
      secret.context = at_;
      secret.begin = begin + colon + 1;
      secret.end = begin + host;
      if (!is_nothing(text_.substr(secret.begin, secret.end - secret.begin))) {
        found_.push_back(secret);
      }
      at_ = secret.end;
      return;
    }
    at_ = begin;
  }

  std::string_view text_;
  bool whole_;
  std::size_t at_ = 0;
  std::size_t resume_ = 0;  // where the search for a value's end begins
  std::vector<Secret> found_;
};

}  // namespace

std::vector<Secret> find_secrets(std::string_view text, bool whole) {
  return Finder(text, whole).find();
}

}  // namespace teller
