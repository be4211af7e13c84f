#include "reconstruct/log_ids.h"

#include <algorithm>

namespace teller {

namespace {

// Shorter ids, and plain numbers, are found only behind a word that says what they are.
constexpr std::size_t kMinFreeId = 3;

bool is_alnum(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// vLLM names the parts of "my-req" "cmpl-my-req-0-871d72e8": a prefix for the endpoint, the number
// of the prompt, and random digits.
std::string_view without_random_part(std::string_view id) {
  const std::size_t dash = id.rfind('-');
  if (dash == std::string_view::npos || dash == 0 || id.size() - dash != 9) return id;
  const bool hex = std::all_of(id.begin() + dash + 1, id.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
  });
  return hex ? id.substr(0, dash) : id;
}

std::string_view without_number(std::string_view id) {
  std::size_t begin = id.size();
  while (begin > 0 && id[begin - 1] >= '0' && id[begin - 1] <= '9') --begin;
  const bool numbered = begin < id.size() && begin > 1 && id[begin - 1] == '-';
  return numbered ? id.substr(0, begin - 1) : id;
}

std::string_view without_endpoint(std::string_view id) {
  for (const std::string_view prefix : {"chatcmpl-", "cmpl-"}) {
    if (id.substr(0, prefix.size()) == prefix) return id.substr(prefix.size());
  }
  return id;
}

bool may_stand_alone(std::string_view id) {
  return id.size() >= kMinFreeId &&
         !std::all_of(id.begin(), id.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// The text before a token ends in a word such as "request", "req", "rid", "request_id".
bool named_as_request(std::string_view before) {
  while (!before.empty() && !is_alnum(before.back())) before.remove_suffix(1);
  if (before.size() > 16) before.remove_prefix(before.size() - 16);
  for (const std::string_view word :
       {"request", "Request", "req", "rid", "request_id", "req_id", "request ID", "request id"}) {
    if (before.size() >= word.size() && before.substr(before.size() - word.size()) == word) {
      return true;
    }
  }
  return false;
}

}  // namespace

RequestMatcher::RequestMatcher(const Interner& ids) : id_chars_(256, false) {
  constexpr std::string_view kNever = " \t='\"(),[]{}";
  for (int c = 0; c < 256; ++c) {
    const char letter = static_cast<char>(c);
    id_chars_[static_cast<std::size_t>(c)] = is_alnum(letter) || letter == '-' || letter == '_';
  }
  for (std::uint32_t id = 1; id < ids.size(); ++id) {
    const std::string_view whole = ids.view(id);
    requests_.emplace(whole, id - 1);
    for (const char c : whole) {
      if (kNever.find(c) == std::string_view::npos) id_chars_[static_cast<unsigned char>(c)] = true;
    }
    const std::string_view plain = without_random_part(whole);
    if (plain.size() == whole.size()) continue;
    for (const std::string_view alias : {plain, without_number(plain)}) {
      add_alias(alias, id - 1);
      add_alias(without_endpoint(alias), id - 1);
    }
  }
}

// An alias of two requests (the prompts of one call) names neither.
void RequestMatcher::add_alias(std::string_view alias, std::uint32_t request) {
  if (!may_stand_alone(alias)) return;
  const auto [found, added] = aliases_.emplace(alias, request);
  if (!added && found->second != request) found->second = kNoIndex;
}

std::uint32_t RequestMatcher::lookup(std::string_view token) const {
  const auto whole = requests_.find(token);
  if (whole != requests_.end()) return whole->second;
  const auto alias = aliases_.find(token);
  return alias == aliases_.end() ? kNoIndex : alias->second;
}

std::uint32_t RequestMatcher::same_request(std::string_view id) const {
  if (const std::uint32_t whole = lookup(id); whole != kNoIndex) return whole;
  const std::string_view plain = without_random_part(id);
  for (const std::string_view spelling : {plain, without_number(plain)}) {
    for (const std::string_view shorter : {spelling, without_endpoint(spelling)}) {
      if (!may_stand_alone(shorter)) continue;
      if (const std::uint32_t request = lookup(shorter); request != kNoIndex) return request;
    }
  }
  return kNoIndex;
}

std::uint32_t RequestMatcher::find(std::string_view text) const {
  if (requests_.empty()) return kNoIndex;
  for (std::size_t at = 0; at < text.size();) {
    if (!is_id_char(text[at])) {
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < text.size() && is_id_char(text[end])) ++end;
    std::string_view token = text.substr(at, end - at);
    const std::string_view before = text.substr(0, at);
    at = end;
    // A full stop or a colon behind an id may be punctuation.
    for (int tries = 0; tries < 3 && !token.empty(); ++tries) {
      for (const std::string_view candidate :
           {token, without_random_part(token), without_number(without_random_part(token))}) {
        const std::uint32_t request = lookup(candidate);
        if (request == kNoIndex) continue;
        if (may_stand_alone(candidate) || named_as_request(before)) return request;
      }
      if (is_alnum(token.back())) break;
      token.remove_suffix(1);
    }
  }
  return kNoIndex;
}

}  // namespace teller
