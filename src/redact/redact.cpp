#include "redact/redact.h"

#include <re2/re2.h>

#include <algorithm>
#include <numeric>
#include <utility>

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

std::vector<std::string> Redactor::arguments(const std::vector<std::string>& argv,
                                             RedactCounts& counts) const {
  if (!on_) return argv;
  std::vector<std::string> kept;
  bool secret_next = false;
  SecretKind kind = SecretKind::kApiKey;
  for (const std::string& argument : argv) {
    const bool option = argument.starts_with("-");
    if (secret_next && !option && !argument.empty()) {
      // Options such as --api-key take several values: all up to the next option.
      counts.add(kind);
      kept.emplace_back();
      append_mark(kind, kept.back());
      continue;
    }
    secret_next = false;
    kept.push_back(text(argument, counts));
    if (!option || argument.find('=') != std::string::npos) continue;
    const std::size_t name = argument.find_first_not_of('-');
    if (name == std::string::npos) continue;
    const KeyMeaning meaning = meaning_of_key(std::string_view(argument).substr(name));
    const bool prompt = meaning == KeyMeaning::kPrompt || meaning == KeyMeaning::kTokenIds;
    secret_next =
        (meaning != KeyMeaning::kNone && !prompt) || argument == "--token" || argument == "--key";
    kind = secret_kind_of(meaning);
  }
  return kept;
}

}  // namespace teller
