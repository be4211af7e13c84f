#include "redact/redact.h"

#include <re2/re2.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "redact/chars.h"

namespace teller {

namespace {

// Of one pattern, for the automata that RE2 builds.
constexpr std::int64_t kPatternMemory = 8 << 20;

// In order and apart: of two that overlap, the first takes in what the second has beyond it.
void separate(std::vector<Secret>& secrets) {
  std::stable_sort(secrets.begin(), secrets.end(),
                   [](const Secret& a, const Secret& b) { return a.begin < b.begin; });
  std::vector<Secret> apart;
  for (const Secret& secret : secrets) {
    if (!apart.empty() && secret.begin < apart.back().end) {
      Secret& before = apart.back();
      if (secret.end > before.end && !before.open) {
        before.end = secret.end;
        before.open = secret.open;
        before.value = secret.value;
      }
      continue;
    }
    apart.push_back(secret);
  }
  secrets = std::move(apart);
}

// The size of "NAME=" at the front of a variable of an environment, 0 if `text` is none.
std::size_t variable_size(std::string_view text) {
  std::size_t size = 0;
  while (size < text.size() &&
         (is_upper(text[size]) || is_digit(text[size]) || text[size] == '_')) {
    ++size;
  }
  const bool secret = meaning_of_option(text.substr(0, size)) != KeyMeaning::kNone ||
                      is_secret_variable(text.substr(0, size));
  return size > 0 && size < text.size() && text[size] == '=' && !secret ? size + 1 : 0;
}

}  // namespace

void RedactCounts::add(const RedactCounts& other) {
  for (std::size_t i = 0; i < kSecretKinds; ++i) counts_[i] += other.counts_[i];
}

std::uint64_t RedactCounts::total() const {
  return std::accumulate(counts_.begin(), counts_.end(), std::uint64_t{0});
}

Redactor::Redactor() = default;
Redactor::Redactor(Redactor&&) noexcept = default;
Redactor& Redactor::operator=(Redactor&&) noexcept = default;
Redactor::~Redactor() = default;

Result<Redactor> Redactor::create(const RedactOptions& options) {
  Redactor redactor;
  redactor.on_ = options.on;
  for (const std::string& pattern : options.patterns) {
    RE2::Options re_options(RE2::Quiet);
    re_options.set_max_mem(kPatternMemory);
    // Logs need not be UTF-8.
    re_options.set_encoding(RE2::Options::EncodingLatin1);
    auto compiled = std::make_unique<RE2>(pattern, re_options);
    const std::string tried = "reading the pattern '" + pattern + "' of --redact-pattern: ";
    if (!compiled->ok()) {
      return Error{
          ErrorCode::kUsage, tried + compiled->error(),
          "patterns are regular expressions of RE2; put \\ before what is meant literally"};
    }
    if (RE2::FullMatch("", *compiled)) {
      return Error{ErrorCode::kUsage, tried + "it matches the empty text",
                   "give a pattern that needs at least one character"};
    }
    redactor.patterns_.push_back(std::move(compiled));
  }
  return redactor;
}

std::vector<Secret> Redactor::find(std::string_view text, bool whole) const {
  if (!on_) return {};
  std::vector<Secret> secrets = find_secrets(text, whole);
  const re2::StringPiece piece(text.data(), text.size());
  for (const auto& pattern : patterns_) {
    re2::StringPiece match;
    std::size_t from = 0;
    while (from <= text.size() &&
           pattern->Match(piece, from, text.size(), RE2::UNANCHORED, &match, 1)) {
      Secret secret;
      secret.kind = SecretKind::kPattern;
      secret.begin = secret.context = static_cast<std::size_t>(match.data() - text.data());
      secret.end = secret.begin + match.size();
      from = std::max(secret.end, secret.begin + 1);
      if (!match.empty()) secrets.push_back(secret);
    }
  }
  if (!patterns_.empty()) separate(secrets);
  return secrets;
}

std::string Redactor::text(std::string_view text, RedactCounts& counts) const {
  const std::size_t name = variable_size(text);
  if (!on_ || name == 0) return found(text, counts);
  return std::string(text.substr(0, name)) + argument(text.substr(name), counts);
}

std::string Redactor::found(std::string_view text, RedactCounts& counts) const {
  std::string out;
  std::size_t done = 0;
  for (const Secret& secret : find(text, true)) {
    out += text.substr(done, secret.begin - done);
    append_mark(secret.kind, out);
    counts.add(secret.kind);
    done = secret.end;
  }
  out += text.substr(done);
  return out;
}

}  // namespace teller
