// Tokens that say themselves what they are: "hf_…", "sk-…".
#include <algorithm>

#include "redact/chars.h"
#include "redact/secrets.h"

namespace teller {

namespace {

struct Front {
  std::string_view front;
  std::size_t rest;  // at least so many characters behind it
  bool digit;        // one of which is a digit
};
constexpr Front kFronts[] = {
    {"sk-", 8, true},    {"ghp_", 20, false},        {"gho_", 20, false},   {"ghs_", 20, false},
    {"ghu_", 20, false}, {"ghr_", 20, false},        {"glpat-", 16, false}, {"xoxb-", 10, true},
    {"xoxp-", 10, true}, {"xoxa-", 10, true},        {"xoxs-", 10, true},   {"AIza", 30, false},
    {"gsk_", 20, false}, {"github_pat_", 20, false}, {"r8_", 20, false},    {"nvapi-", 16, false}};

bool begins(std::string_view word, const Front& front) {
  if (!word.starts_with(front.front) || word.size() < front.front.size() + front.rest) return false;
  word.remove_prefix(front.front.size());
  return !front.digit || std::any_of(word.begin(), word.end(), is_digit);
}

}  // namespace

std::optional<SecretKind> kind_of_token(std::string_view word, char behind) {
  const auto all = [&](std::size_t from, bool (*test)(char)) {
    return std::all_of(word.begin() + static_cast<std::ptrdiff_t>(from), word.end(), test);
  };
  if (begins(word, {"hf_", 16, false}) && all(3, is_alnum)) return SecretKind::kHfToken;
  if ((word.starts_with("AKIA") || word.starts_with("ASIA")) && word.size() == 20 &&
      all(4, [](char c) { return is_upper(c) || is_digit(c); })) {
    return SecretKind::kAwsKey;
  }
  // A JSON web token: three parts with points between.
  if (begins(word, {"eyJ", 16, false}) && behind == '.') return SecretKind::kBearer;
  const bool known = std::any_of(std::begin(kFronts), std::end(kFronts),
                                 [&](const Front& front) { return begins(word, front); });
  return known ? std::optional(SecretKind::kApiKey) : std::nullopt;
}

}  // namespace teller
