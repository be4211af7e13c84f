#include "redact/secrets.h"

#include <algorithm>

#include "redact/chars.h"
#include "redact/cursor.h"

namespace teller {

namespace {

constexpr std::size_t kNone = std::string_view::npos;

class Finder : Cursor {
 public:
  Finder(std::string_view text, bool whole) : Cursor(text), whole_(whole) {}

  std::vector<Secret> find() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      const std::size_t control = c == '\x1b' ? control_size(text_.substr(at_)) : 0;
      if (control > 0) {
        at_ += control;
      } else if (is_name(c)) {
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
  // A name, or a token that looks like one: "api_key", "hf_…", "sk-…".
  void name() {
    std::size_t begin = at_;
    std::size_t end = begin;
    while (end < text_.size() && is_name(text_[end])) ++end;
    at_ = end;
    const bool option = text_.substr(begin, 2) == "--";
    const bool block = text_.substr(begin, 10) == "-----BEGIN";
    while (begin < end && text_[begin] == '-') ++begin;
    const std::string_view word = text_.substr(begin, end - begin);
    if (const auto kind = kind_of_token(word, at(end))) {
      resume_ = begin;
      return add(*kind, begin, begin, ValueEnd::token());
    }
    if (block) return pem(begin, end);
    if (same_word(word, "bearer")) return bearer(begin, end);
    key(word, begin, end, option);
  }

  void add(SecretKind kind, std::size_t context, std::size_t begin, ValueEnd value) {
    Secret secret;
    secret.kind = kind;
    secret.context = context;
    secret.begin = begin;
    const std::size_t size = value.find(text_.substr(std::min(resume_, text_.size())), whole_);
    secret.end = size == kNone ? text_.size() : resume_ + size;
    secret.open = size == kNone && (!whole_ || value.spans_lines());
    secret.value = value;
    const std::string_view text = text_.substr(begin, secret.end - begin);
    at_ = std::max(at_, secret.end);
    if (!secret.open && is_nothing(text)) return;
    if (text.starts_with("<redacted:")) return;
    found_.push_back(secret);
  }

  // "-----BEGIN RSA PRIVATE KEY-----".
  void pem(std::size_t begin, std::size_t end) {
    constexpr std::size_t kMaxTitle = 48;
    constexpr std::string_view kTitle = "PRIVATE KEY-----";
    const std::size_t title = text_.substr(end, kMaxTitle).find(kTitle);
    if (title == kNone) return;
    resume_ = end + title + kTitle.size();
    add(SecretKind::kApiKey, begin, resume_, ValueEnd::pem());
  }

  void bearer(std::size_t begin, std::size_t end) {
    constexpr std::size_t kLeast = 6;
    constexpr std::string_view kSigns = "._-~+/=";
    const std::size_t value = skip_blanks(end);
    std::size_t behind = value;
    while (behind - value < kLeast && behind < text_.size() &&
           (is_alnum(text_[behind]) || kSigns.find(text_[behind]) != kNone)) {
      ++behind;
    }
    if (value == end || behind - value < kLeast) return;
    resume_ = value;
    add(SecretKind::kBearer, begin, value, ValueEnd::token());
  }

  // "api_key=…", "'api_key': '…'", "--api-key …", "VLLM_API_KEY=…", "prompt: '…'".
  void key(std::string_view word, std::size_t begin, std::size_t end, bool option) {
    std::size_t from = skip_controls(end);
    const std::size_t quote = at(from) == '\\' ? from + 1 : from;
    const bool in_quotes = is_quote(at(quote));
    from = skip_blanks(in_quotes ? quote + 1 : from);
    const char separator = at(from);
    const bool assigned = separator == '=' || separator == ':';
    const bool listed = in_quotes && separator == ',';  // ('x-api-key', '…')
    const bool given = option && !in_quotes && from != end && separator != '-';  // --api-key VALUE
    if (!assigned && !listed && !given) return;
    from = assigned || listed ? skip_blanks(from + 1) : from;
    if (listed && quote_size(from) == 0) return;
    const char before = begin > 0 ? text_[begin - 1] : '\0';
    const bool query = separator == '=' && (before == '?' || before == '&');
    const KeyMeaning meaning = meaning_of(word, from, option || query, assigned);
    const bool prompt = is_prompt(meaning);
    if (meaning == KeyMeaning::kNone || (prompt && !assigned)) return;
    if (meaning == KeyMeaning::kWeakPrompt && !holds_strings(from)) return;
    if (meaning == KeyMeaning::kAuthorization) return authorization(begin, from);
    if (separator == ':') from = behind_type(from);
    value(meaning, begin, from, query);
  }

  KeyMeaning meaning_of(std::string_view word, std::size_t value, bool option,
                        bool assigned) const {
    const KeyMeaning meaning = option ? meaning_of_option(word) : meaning_of_key(word);
    if (meaning != KeyMeaning::kNone || !assigned) return meaning;
    if (is_secret_variable(word) && !is_digits(value)) return KeyMeaning::kApiKey;
    return is_token_name(word) && is_mixed(value) ? KeyMeaning::kApiKey : KeyMeaning::kNone;
  }

  // "Bearer TOKEN", "Digest …, response=…" behind "Authorization:".
  void authorization(std::size_t context, std::size_t from) {
    const std::size_t quote = quote_size(from);
    const std::string_view rest = text_.substr(std::min(from + quote, text_.size()));
    const std::size_t scheme = scheme_size(rest);
    resume_ = skip_blanks(from + quote + scheme);
    const std::size_t begin = scheme > 0 ? resume_ : from + quote;
    if (quote > 0) {
      const bool escaped = quote > 1 && at(from + quote - 2) == '\\';
      const std::size_t before = found_.size();
      add(SecretKind::kBearer, context, begin, ValueEnd::quoted(at(from + quote - 1), escaped));
      if (found_.size() > before && !found_.back().open) found_.back().end -= escaped ? 2 : 1;
      return;
    }
    const bool fields =
        same_word(rest.substr(0, 6), "digest") || same_word(rest.substr(0, 4), "aws4");
    if (scheme == 0) resume_ = behind_unknown_scheme(from);
    add(SecretKind::kBearer, context, begin, fields ? ValueEnd::line() : ValueEnd::word(false));
  }

  void value(KeyMeaning meaning, std::size_t context, std::size_t begin, bool query) {
    const SecretKind kind = secret_kind_of(meaning);
    resume_ = begin;
    for (const std::string_view maker : {"tensor(", "array("}) {
      if (text_.substr(std::min(begin, text_.size())).starts_with(maker)) {
        resume_ += maker.size() - 1;
      }
    }
    if (const std::size_t quote = quote_size(resume_); quote > 0) {
      const std::size_t last = resume_ + quote - 1;
      const char c = at(last);
      const bool escaped = last > resume_ && at(last - 1) == '\\';
      resume_ = last + 1;
      if (at(last + 1) == c && at(last + 2) == c) {
        resume_ = last + 3;
        return add(kind, context, begin, ValueEnd::triple(c));
      }
      return add(kind, context, begin, ValueEnd::quoted(c, escaped));
    }
    const std::size_t bracket = behind_call(resume_);
    const char c = at(bracket);
    const bool password = meaning == KeyMeaning::kPassword;
    const bool call = bracket != resume_ && (!password || holds_value(bracket));
    if (call || (bracket == resume_ && (c == '[' || c == '(' || c == '{'))) {
      resume_ = bracket + 1;
      return add(kind, context, begin, ValueEnd::nested());
    }
    if (is_prompt(meaning) || hides_nothing(begin)) return;
    resume_ = begin;
    if (meaning == KeyMeaning::kCookie) return add(kind, context, begin, ValueEnd::line());
    add(kind, context, begin, password ? ValueEnd::word(query) : ValueEnd::token());
  }

  // "scheme://user:password@host".
  void user_info() {
    const auto secret = find_user_info(text_, at_);
    at_ += 3;
    if (!secret) return;
    at_ = secret->end;
    if (!is_nothing(text_.substr(secret->begin, secret->end - secret->begin))) {
      found_.push_back(*secret);
    }
  }

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
