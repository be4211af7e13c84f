// Keeps secrets and prompts out of what is stored: finds them in text and puts "<redacted:KIND>" in
// their place. What is found, and what is not: docs/logs.md, Redaction.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "redact/secrets.h"
#include "teller/result.h"

namespace re2 {
class RE2;
}

namespace teller {

struct RedactOptions {
  bool on = true;
  std::vector<std::string> patterns;  // regular expressions of RE2: what matches is kind "pattern"
};

// How often each kind was replaced.
class RedactCounts {
 public:
  void add(SecretKind kind) { ++counts_[static_cast<std::size_t>(kind)]; }
  void add(const RedactCounts& other);
  std::uint64_t of(SecretKind kind) const { return counts_[static_cast<std::size_t>(kind)]; }
  std::uint64_t total() const;

 private:
  std::array<std::uint64_t, kSecretKinds> counts_{};
};

// The rules of one run. Immutable once made: threads may share them.
class Redactor {
 public:
  // Fails with kUsage on a pattern that RE2 does not take, or that matches nothing at all ("").
  static Result<Redactor> create(const RedactOptions& options);
  Redactor(Redactor&&) noexcept;
  Redactor& operator=(Redactor&&) noexcept;
  ~Redactor();

  bool on() const { return on_; }
  // `text`, a whole one, without secrets. What stands behind "NAME=" at its front, as in a variable
  // of an environment, is taken for an argument: a secret there has no end before the text has.
  std::string text(std::string_view text, RedactCounts& counts) const;
  // Command-line arguments: also values behind "--api-key" and "--hf-token=".
  std::vector<std::string> arguments(const std::vector<std::string>& argv,
                                     RedactCounts& counts) const;
  // Where secrets stand in `text`, in order, apart from each other. If `text` goes on (`!whole`),
  // the last one may be open.
  std::vector<Secret> find(std::string_view text, bool whole) const;

 private:
  Redactor();
  std::string found(std::string_view text, RedactCounts& counts) const;
  std::string argument(std::string_view argument, RedactCounts& counts) const;
  bool on_ = true;
  std::vector<std::unique_ptr<re2::RE2>> patterns_;
};

// What a member `key` of a structured record holds, where its name says that this is a secret or a
// prompt: "apiKey", "prompt_token_ids", "HF_TOKEN". `text` is its value if that is a text, else "":
// names like "token" and "auth" count if it looks like a secret.
std::optional<SecretKind> kind_of_member(std::string_view key, std::string_view text);

// True for the name of a variable or an option that holds a secret: VLLM_API_KEY, HF_TOKEN.
bool is_secret_name(std::string_view name);

// Redacts one stream line by line, where lines may come in pieces. A secret that begins in one
// piece is not stored in the next, and a prompt whose quotes span lines ends at its closing quote,
// or at the next line that a known log format begins.
class LineRedactor {
 public:
  // How much of a line must be seen behind a piece before the piece may be taken off.
  static constexpr std::size_t kLookahead = 4 << 10;

  explicit LineRedactor(const Redactor* rules) : rules_(rules) {}

  // Appends to `out` what may be stored of the front of `raw`, which is the part of a line that has
  // not been taken yet; `ends` says whether the line ends there. Returns how many bytes of `raw` it
  // took: all if the line ends, else about `wanted`, never through the middle of a secret or of a
  // character.
  std::size_t take(std::string_view raw, std::size_t wanted, bool ends, std::string& out);
  // A line has ended of which nothing was left to take.
  void end_line();
  const RedactCounts& counts() const { return counts_; }

 private:
  std::size_t leave_open(std::string_view raw, bool ends, std::string& out);

  const Redactor* rules_;
  RedactCounts counts_;
  bool open_ = false;
  Secret secret_;  // while it is open
  bool first_piece_ = true;
  std::size_t open_lines_ = 0;
};

}  // namespace teller
