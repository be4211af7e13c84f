#include "snapshot/secrets.h"

#include <algorithm>
#include <cctype>
#include <regex>

namespace teller::snapshot_detail {

namespace {

// Longer texts are redacted in pieces of this size: the time of a regular expression stays bounded.
constexpr std::size_t kPiece = 4096;

bool is_secret_word(std::string_view word) {
  constexpr std::string_view kWords[] = {
      "key",           "apikey", "token",      "secret",     "secrets",     "password",
      "passwd",        "pass",   "passphrase", "credential", "credentials", "auth",
      "authorization", "pwd",    "bearer",     "cookie",     "accesstoken", "privatekey"};
  return std::find(std::begin(kWords), std::end(kWords), word) != std::end(kWords);
}

const std::regex& assignments() {
  // NAME=VALUE, NAME: VALUE, "NAME": "VALUE", --name VALUE
  static const std::regex pattern(
      R"re(\b([A-Za-z][A-Za-z0-9_.-]*)(["']?\s*[=:]\s*|["']?\s+)("[^"]*"|'[^']*'|(?:(?:Basic|Bearer|Digest|Token)\s+)?[^\s"']+))re");
  return pattern;
}

const std::regex& tokens() {
  static const std::regex pattern(
      R"re((://[^\s/:@]*:)[^\s/@]+(?=@)|()\b(?:hf_[A-Za-z0-9]{8,}|sk-[A-Za-z0-9_-]{12,}|gh[pousr]_[A-Za-z0-9]{12,}|github_pat_[A-Za-z0-9_]{12,}|xox[abprs]-[A-Za-z0-9-]{8,}|AKIA[A-Z0-9]{12,}|eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_.-]+|glpat-[A-Za-z0-9_-]{8,})|([Bb]earer\s+)[A-Za-z0-9._~+/=-]{8,})re");
  return pattern;
}

bool is_option(const std::string& text, std::size_t begin) {
  return begin >= 1 && text[begin - 1] == '-';
}

// Where a blank alone stands between name and value, the name must be an option: prose is kept.
std::string without_assigned(const std::string& text) {
  std::string out;
  std::size_t at = 0;
  std::smatch found;
  std::string::const_iterator from = text.begin();
  while (std::regex_search(from, text.end(), found, assignments())) {
    const auto begin = static_cast<std::size_t>(found[1].first - text.begin());
    const auto value = static_cast<std::size_t>(found[3].first - text.begin());
    const std::string mark = found[2].str();
    const bool assigned = mark.find_first_of("=:") != std::string::npos;
    const bool secret = is_secret_name(found[1].str()) && (assigned || is_option(text, begin));
    // What was no secret's value may be the next name.
    const std::size_t next = secret ? value + static_cast<std::size_t>(found[3].length())
                                    : begin + static_cast<std::size_t>(found[1].length());
    out +=
        secret ? text.substr(at, value - at) + std::string(kRedacted) : text.substr(at, next - at);
    at = next;
    from = text.begin() + static_cast<std::ptrdiff_t>(at);
  }
  return out + text.substr(at);
}

std::string redact_piece(const std::string& text) {
  const std::string known = std::regex_replace(text, tokens(), "$1$3" + std::string(kRedacted));
  return without_assigned(known);
}

}  // namespace

bool is_secret_name(std::string_view name) {
  std::string word;
  bool secret = false;
  const auto end_word = [&] {
    secret = secret || is_secret_word(word);
    word.clear();
  };
  for (std::size_t i = 0; i < name.size(); ++i) {
    const auto c = static_cast<unsigned char>(name[i]);
    if (std::isalnum(c) == 0) {
      end_word();
      continue;
    }
    const bool hump =
        std::isupper(c) != 0 && i > 0 && std::islower(static_cast<unsigned char>(name[i - 1])) != 0;
    if (hump) end_word();
    word += static_cast<char>(std::tolower(c));
  }
  end_word();
  return secret;
}

std::string redact(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    std::size_t size = std::min(text.size(), kPiece);
    // Cut at a blank where there is one.
    if (size < text.size()) {
      const std::size_t blank = text.substr(0, size).find_last_of(" \t\n");
      if (blank != std::string_view::npos && blank > 0) size = blank + 1;
    }
    out += redact_piece(std::string(text.substr(0, size)));
    text.remove_prefix(size);
  }
  return out;
}

std::vector<std::string> redact_arguments(const std::vector<std::string>& arguments) {
  std::vector<std::string> out;
  bool secret_follows = false;
  for (const std::string& argument : arguments) {
    const bool option = argument.starts_with("-");
    out.push_back(secret_follows && !option ? std::string(kRedacted) : redact(argument));
    secret_follows = option && argument.find('=') == std::string::npos && is_secret_name(argument);
  }
  return out;
}

}  // namespace teller::snapshot_detail
