// Finds secrets in text, in time linear in its length. Private to redact/ and its tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "redact/value.h"

namespace teller {

enum class SecretKind : std::uint8_t {
  kApiKey,
  kBearer,
  kPassword,
  kHfToken,
  kAwsKey,
  kPrompt,
  kTokenIds,
  kPattern
};
inline constexpr std::size_t kSecretKinds = 8;
std::string_view secret_kind_name(SecretKind kind);  // "api_key", …
// Appends what stands in the place of a secret: "<redacted:api_key>".
void append_mark(SecretKind kind, std::string& out);

// One secret in a text.
struct Secret {
  SecretKind kind = SecretKind::kApiKey;
  std::size_t context = 0;  // where what gives it away begins: the key before it
  std::size_t begin = 0;
  std::size_t end = 0;
  bool open = false;  // the text ended before it did
  ValueEnd value;     // how it ends, if open
};

// Secrets of the built-in rules. See Redactor::find().
std::vector<Secret> find_secrets(std::string_view text, bool whole);

// What a key in front of a value says about it.
enum class KeyMeaning : std::uint8_t {
  kNone,
  kApiKey,
  kPassword,
  kHfToken,
  kAwsKey,
  kAuthorization,
  kCookie,
  kPrompt,
  kWeakPrompt,  // a prompt if it holds strings: engines print shapes behind such names, too
  kTokenIds
};
// The meaning of "api_key", "x-api-key", "VLLM_API_KEY", "prompt_token_ids", …
KeyMeaning meaning_of_key(std::string_view key);
// The same of an option or of a field of a query, where also "token", "key" and "auth" tell enough.
KeyMeaning meaning_of_option(std::string_view name);
// True for names of variables: "VLLM_API_KEY", "HF_TOKEN"; not for "MAX_TOKENS", "PASS".
bool is_secret_variable(std::string_view name);
// True for "token" and "hub_token", not for "eos_token": a secret if the value looks like one.
bool is_token_name(std::string_view name);
bool is_prompt(KeyMeaning meaning);
// The kind of what stands behind such a key.
SecretKind secret_kind_of(KeyMeaning meaning);

// The kind of a token such as "hf_…"; `behind` is the character that follows it.
std::optional<SecretKind> kind_of_token(std::string_view word, char behind);
// The password in "scheme://user:password@host", where "://" stands at `at`.
std::optional<Secret> find_user_info(std::string_view text, std::size_t at);

}  // namespace teller
