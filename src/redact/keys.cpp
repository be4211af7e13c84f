// Names that say that a secret or a prompt stands behind them, and what stands in its place.
#include <algorithm>
#include <string>

#include "redact/chars.h"
#include "redact/cursor.h"
#include "redact/redact.h"
#include "redact/secrets.h"

namespace teller {

namespace {

constexpr std::size_t kMaxKey = 64;

// "openaiApiKey", "openai-api-key", "openai.api.key" become "openai_api_key". The end tells.
std::string normal(std::string_view name) {
  if (name.size() > kMaxKey) name.remove_prefix(name.size() - kMaxKey);
  std::string text;
  char before = '_';
  for (const char c : name) {
    if (is_upper(c) && is_alnum(before) && !is_upper(before)) text += '_';
    before = c;
    if (c == '-' || c == '.') {
      text += '_';
    } else {
      text += is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c;
    }
  }
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
                             {"security_token", KeyMeaning::kApiKey},
                             {"master_key", KeyMeaning::kApiKey},
                             {"encryption_key", KeyMeaning::kApiKey},
                             {"signing_key", KeyMeaning::kApiKey},
                             {"amz_signature", KeyMeaning::kAwsKey},
                             {"amz_credential", KeyMeaning::kAwsKey},
                             {"goog_signature", KeyMeaning::kApiKey},
                             {"cookie", KeyMeaning::kCookie},
                             {"client_secret", KeyMeaning::kPassword},
                             {"secret", KeyMeaning::kPassword},
                             {"password", KeyMeaning::kPassword},
                             {"passwd", KeyMeaning::kPassword},
                             {"passphrase", KeyMeaning::kPassword},
                             {"credentials", KeyMeaning::kPassword},
                             {"authorization", KeyMeaning::kAuthorization}};
// Ends that need no boundary before them: "PGPASSWORD".
constexpr KeyWord kRunTogether[] = {
    {"password", KeyMeaning::kPassword},   {"passwd", KeyMeaning::kPassword},
    {"passphrase", KeyMeaning::kPassword}, {"secret", KeyMeaning::kPassword},
    {"apikey", KeyMeaning::kApiKey},       {"api_key", KeyMeaning::kApiKey},
    {"accesskey", KeyMeaning::kApiKey},    {"secretkey", KeyMeaning::kApiKey},
    {"authtoken", KeyMeaning::kApiKey},    {"accesstoken", KeyMeaning::kApiKey}};
// Last parts of options.
constexpr KeyWord kOptionEnds[] = {
    {"token", KeyMeaning::kApiKey},    {"key", KeyMeaning::kApiKey},
    {"sig", KeyMeaning::kApiKey},      {"auth", KeyMeaning::kApiKey},
    {"pass", KeyMeaning::kPassword},   {"pwd", KeyMeaning::kPassword},
    {"signature", KeyMeaning::kApiKey}};
// What stands before "key" and "token" where they are columns of data and parts of a vocabulary.
constexpr std::string_view kHarmless[] = {
    "eos",     "bos",      "pad",      "unk",      "sep",    "cls",   "mask",    "image",
    "video",   "audio",    "stop",     "per",      "max",    "num",   "special", "next",
    "input",   "output",   "label",    "prompt",   "sort",   "data",  "dataset", "text",
    "metric",  "chosen",   "rejected", "reward",   "fn",     "cache", "group",   "hash",
    "primary", "messages", "images",   "response", "answer", "think", "use"};
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
                              {"negative_prompt", KeyMeaning::kPrompt},
                              {"user_prompt", KeyMeaning::kPrompt},
                              {"system_prompt", KeyMeaning::kPrompt},
                              {"documents", KeyMeaning::kWeakPrompt},
                              {"document", KeyMeaning::kWeakPrompt},
                              {"queries", KeyMeaning::kWeakPrompt},
                              {"query", KeyMeaning::kWeakPrompt},
                              {"input", KeyMeaning::kWeakPrompt},
                              {"inputs", KeyMeaning::kWeakPrompt},
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

// "eos_token": `name` ends with `word`, and the part before it says that it is no secret.
bool is_harmless(std::string_view name, std::string_view word) {
  if (name.size() <= word.size()) return false;
  const std::string_view front = name.substr(0, name.size() - word.size() - 1);
  return std::any_of(std::begin(kHarmless), std::end(kHarmless),
                     [&](std::string_view part) { return ends_with_part(front, part); });
}

}  // namespace

KeyMeaning meaning_of_key(std::string_view key) {
  if (key.empty()) return KeyMeaning::kNone;
  const std::string name = normal(key);
  for (const KeyWord& entry : kWhole) {
    if (name == entry.word) return entry.meaning;
  }
  for (const KeyWord& entry : kEnds) {
    if (ends_with_part(name, entry.word)) return entry.meaning;
  }
  for (const KeyWord& entry : kRunTogether) {
    if (name.ends_with(entry.word)) return entry.meaning;
  }
  return KeyMeaning::kNone;
}

KeyMeaning meaning_of_option(std::string_view option) {
  const KeyMeaning meaning = meaning_of_key(option);
  if (meaning != KeyMeaning::kNone) return meaning;
  const std::string name = normal(option);
  for (const KeyWord& entry : kOptionEnds) {
    if (ends_with_part(name, entry.word) && !is_harmless(name, entry.word)) return entry.meaning;
  }
  return KeyMeaning::kNone;
}

bool is_token_name(std::string_view key) {
  const std::string name = normal(key);
  return ends_with_part(name, "token") && !is_harmless(name, "token");
}

bool is_prompt(KeyMeaning meaning) {
  return meaning == KeyMeaning::kPrompt || meaning == KeyMeaning::kWeakPrompt ||
         meaning == KeyMeaning::kTokenIds;
}

bool is_secret_variable(std::string_view name) {
  const bool variable = std::all_of(name.begin(), name.end(),
                                    [](char c) { return is_upper(c) || is_digit(c) || c == '_'; });
  if (!variable) return false;
  for (const std::string_view end :
       {"_KEY", "_TOKEN", "_SECRET", "_PASS", "_PWD", "_PASSWORD", "_CREDENTIALS", "_AUTH"}) {
    if (name.ends_with(end)) return !is_harmless(normal(name), normal(end.substr(1)));
  }
  return name == "TOKEN";
}

std::optional<SecretKind> kind_of_member(std::string_view key, std::string_view text) {
  const KeyMeaning meaning = meaning_of_key(key);
  if (meaning != KeyMeaning::kNone && is_nothing(text) && !text.empty()) return std::nullopt;
  if (meaning != KeyMeaning::kNone) return secret_kind_of(meaning);
  if (text.empty() || is_nothing(text)) return std::nullopt;
  if (is_secret_variable(key)) return SecretKind::kApiKey;
  const KeyMeaning option = meaning_of_option(key);
  if (option == KeyMeaning::kNone || !Cursor(text).is_mixed(0)) return std::nullopt;
  return secret_kind_of(option);
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
    case KeyMeaning::kCookie:
      return SecretKind::kBearer;
    case KeyMeaning::kPrompt:
    case KeyMeaning::kWeakPrompt:
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
