// Names that say that a secret or a prompt stands behind them, and what stands in its place.
#include <algorithm>
#include <string>

#include "redact/redact.h"
#include "redact/secrets.h"

namespace teller {

namespace {

constexpr std::size_t kMaxKey = 64;

std::string normal(std::string_view name) {
  std::string text(name);
  std::transform(text.begin(), text.end(), text.begin(), [](char c) {
    if (c == '-') return '_';
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return text;
}

// `name` is `word`, or ends with it as a part of its own.
bool ends_with_part(std::string_view name, std::string_view word) {
  return name.ends_with(word) &&
         (name.size() == word.size() || name[name.size() - word.size() - 1] == '_');
}

struct KeyWord {
  std::string_view word;
  KeyMeaning meaning;
};
// Ends of names. "token" alone is none: engines count tokens in every line.
constexpr KeyWord kEnds[] = {{"secret_access_key", KeyMeaning::kAwsKey},
                             {"aws_access_key_id", KeyMeaning::kAwsKey},
                             {"hf_token", KeyMeaning::kHfToken},
                             {"hub_token", KeyMeaning::kHfToken},
                             {"api_key", KeyMeaning::kApiKey},
                             {"api_keys", KeyMeaning::kApiKey},
                             {"apikey", KeyMeaning::kApiKey},
                             {"access_key", KeyMeaning::kApiKey},
                             {"secret_key", KeyMeaning::kApiKey},
                             {"private_key", KeyMeaning::kApiKey},
                             {"access_token", KeyMeaning::kApiKey},
                             {"auth_token", KeyMeaning::kApiKey},
                             {"api_token", KeyMeaning::kApiKey},
                             {"refresh_token", KeyMeaning::kApiKey},
                             {"session_token", KeyMeaning::kApiKey},
                             {"bearer_token", KeyMeaning::kApiKey},
                             {"github_token", KeyMeaning::kApiKey},
                             {"client_secret", KeyMeaning::kPassword},
                             {"secret", KeyMeaning::kPassword},
                             {"password", KeyMeaning::kPassword},
                             {"passwd", KeyMeaning::kPassword},
                             {"passphrase", KeyMeaning::kPassword},
                             {"credentials", KeyMeaning::kPassword},
                             {"authorization", KeyMeaning::kAuthorization}};
// Whole names of what users ask and engines answer.
constexpr KeyWord kWhole[] = {{"prompt", KeyMeaning::kPrompt},
                              {"prompts", KeyMeaning::kPrompt},
                              {"prompt_text", KeyMeaning::kPrompt},
                              {"input_text", KeyMeaning::kPrompt},
                              {"output", KeyMeaning::kPrompt},
                              {"output_text", KeyMeaning::kPrompt},
                              {"generated_text", KeyMeaning::kPrompt},
                              {"text", KeyMeaning::kPrompt},
                              {"content", KeyMeaning::kPrompt},
                              {"messages", KeyMeaning::kPrompt},
                              {"prompt_token_ids", KeyMeaning::kTokenIds},
                              {"input_ids", KeyMeaning::kTokenIds},
                              {"output_ids", KeyMeaning::kTokenIds},
                              {"output_token_ids", KeyMeaning::kTokenIds},
                              {"input_token_ids", KeyMeaning::kTokenIds},
                              {"token_ids", KeyMeaning::kTokenIds},
                              {"new_token_ids", KeyMeaning::kTokenIds},
                              {"origin_input_ids", KeyMeaning::kTokenIds},
                              {"origin_input_text", KeyMeaning::kPrompt}};

}  // namespace

KeyMeaning meaning_of_key(std::string_view key) {
  if (key.empty() || key.size() > kMaxKey) return KeyMeaning::kNone;
  const std::string name = normal(key);
  for (const KeyWord& entry : kWhole) {
    if (name == entry.word) return entry.meaning;
  }
  for (const KeyWord& entry : kEnds) {
    if (ends_with_part(name, entry.word)) return entry.meaning;
  }
  return KeyMeaning::kNone;
}

bool is_secret_name(std::string_view name) {
  std::string upper(name);
  std::transform(upper.begin(), upper.end(), upper.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  });
  constexpr std::string_view kWords[] = {"KEY", "TOKEN", "SECRET", "PASS", "CRED", "AUTH"};
  return std::any_of(std::begin(kWords), std::end(kWords),
                     [&](std::string_view word) { return upper.find(word) != std::string::npos; });
}

std::string_view secret_kind_name(SecretKind kind) {
  constexpr std::string_view kNames[kSecretKinds] = {"api_key", "bearer", "password",  "hf_token",
                                                     "aws_key", "prompt", "token_ids", "pattern"};
  return kNames[static_cast<std::size_t>(kind)];
}

SecretKind secret_kind_of(KeyMeaning meaning) {
  switch (meaning) {
    case KeyMeaning::kPassword:
      return SecretKind::kPassword;
    case KeyMeaning::kHfToken:
      return SecretKind::kHfToken;
    case KeyMeaning::kAwsKey:
      return SecretKind::kAwsKey;
    case KeyMeaning::kAuthorization:
      return SecretKind::kBearer;
    case KeyMeaning::kPrompt:
      return SecretKind::kPrompt;
    case KeyMeaning::kTokenIds:
      return SecretKind::kTokenIds;
    default:
      return SecretKind::kApiKey;
  }
}

void append_mark(SecretKind kind, std::string& out) {
  out += "<redacted:";
  out += secret_kind_name(kind);
  out += '>';
}

}  // namespace teller
