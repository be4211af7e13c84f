// Secrets in command lines, where it is clear where a value ends: with its argument.
#include <algorithm>

#include "redact/chars.h"
#include "redact/cursor.h"
#include "redact/redact.h"

namespace teller {

namespace {

constexpr std::size_t kNone = std::string_view::npos;

bool is_secret(KeyMeaning meaning) {
  return meaning != KeyMeaning::kNone && !is_prompt(meaning);
}

// An argument that begins with the name of something, "--api-key", "API_KEY=…", "x-api-key: …".
struct Named {
  KeyMeaning meaning = KeyMeaning::kNone;
  bool option = false;
  bool has_value = false;
  std::size_t value = 0;  // where it begins
};

Named read_name(std::string_view argument) {
  Named named;
  named.option = argument.starts_with('-');
  const std::size_t begin = argument.find_first_not_of("-+~");
  if (begin == kNone) return named;
  std::size_t end = begin;
  while (end < argument.size() && (is_name(argument[end]) || argument[end] == '.')) ++end;
  const char separator = end < argument.size() ? argument[end] : '\0';
  named.has_value = separator == '=' || separator == ':';
  if (separator != '\0' && !named.has_value) return named;
  const std::string_view name = argument.substr(begin, end - begin);
  named.meaning = separator == ':' ? meaning_of_key(name) : meaning_of_option(name);
  if (named.meaning == KeyMeaning::kNone && is_secret_variable(name)) {
    named.meaning = KeyMeaning::kApiKey;
  }
  named.value = end + (named.has_value ? 1 : 0);
  while (named.value < argument.size() && is_blank(argument[named.value])) ++named.value;
  if (named.meaning == KeyMeaning::kAuthorization) {
    named.value += scheme_size(argument.substr(named.value));
  }
  return named;
}

// "--port", which is no value even behind "--api-key".
bool is_option_name(std::string_view argument) {
  return argument.size() > 2 && argument.starts_with("--") &&
         argument.find_first_not_of("abcdefghijklmnopqrstuvwxyz-_") == kNone;
}

// Where the password begins in "user:password"; npos for numbers ("1000:1000") and addresses.
std::size_t password_of_user(std::string_view argument) {
  const std::size_t colon = argument.find(':');
  if (colon == kNone || colon + 1 == argument.size() || argument.substr(colon, 3) == "://") {
    return kNone;
  }
  return argument.find_first_not_of("0123456789:") == kNone ? kNone : colon + 1;
}

}  // namespace

std::string Redactor::argument(std::string_view argument, RedactCounts& counts) const {
  const Named named = read_name(argument);
  std::size_t value = kNone;
  SecretKind kind = secret_kind_of(named.meaning);
  if (named.has_value && is_secret(named.meaning)) {
    value = named.value;
  } else if (argument.starts_with("--user=")) {
    value = password_of_user(argument);
    kind = SecretKind::kPassword;
  }
  if (value == kNone || is_nothing(argument.substr(value)) ||
      argument.substr(value).starts_with("<redacted:")) {
    return found(argument, counts);
  }
  counts.add(kind);
  std::string kept(argument.substr(0, value));
  append_mark(kind, kept);
  return kept;
}

std::vector<std::string> Redactor::arguments(const std::vector<std::string>& argv,
                                             RedactCounts& counts) const {
  if (!on_) return argv;
  std::vector<std::string> kept;
  bool secret_next = false;  // options such as --api-key take several values
  bool first = false;        // the next is the first of them
  bool user_next = false;    // -u USER:PASSWORD
  SecretKind kind = SecretKind::kApiKey;
  for (const std::string& argument : argv) {
    const bool option = argument.starts_with("-");
    if (secret_next && (first ? !is_option_name(argument) : !option)) {
      first = first && argument.empty();
      kept.emplace_back();
      if (argument.empty()) continue;
      counts.add(kind);
      append_mark(kind, kept.back());
      continue;
    }
    const std::size_t password = user_next && !option ? password_of_user(argument) : kNone;
    secret_next = false;
    user_next = argument == "-u" || argument == "--user" || argument == "--proxy-user";
    if (password != kNone) {
      counts.add(SecretKind::kPassword);
      kept.push_back(argument.substr(0, password));
      append_mark(SecretKind::kPassword, kept.back());
      continue;
    }
    kept.push_back(this->argument(argument, counts));
    if (!option) continue;
    const Named named = read_name(argument);
    // "--token= X", too: a blank that got between.
    secret_next = is_secret(named.meaning) && named.value >= argument.size();
    first = !named.has_value;
    kind = secret_kind_of(named.meaning);
  }
  return kept;
}

}  // namespace teller
