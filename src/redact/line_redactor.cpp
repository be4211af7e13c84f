#include <algorithm>

#include "logs/line.h"
#include "redact/redact.h"

namespace teller {

namespace {

// A prompt whose end is not found in so many lines is taken to have ended.
constexpr std::size_t kMaxOpenLines = 1000;
// The same of any other secret: a key of PEM has no more.
constexpr std::size_t kMaxSecretLines = 100;

std::size_t max_lines(SecretKind kind) {
  const bool prompt = kind == SecretKind::kPrompt || kind == SecretKind::kTokenIds;
  return prompt ? kMaxOpenLines : kMaxSecretLines;
}

}  // namespace

void LineRedactor::end_line() {
  first_piece_ = true;
  if (open_ && (!secret_.value.spans_lines() || secret_.value.pending())) open_ = false;
}

// How much of `raw` still belongs to the secret that is open.
std::size_t LineRedactor::leave_open(std::string_view raw, bool ends, std::string& out) {
  if (first_piece_) {
    if (++open_lines_ > max_lines(secret_.kind) || parse_line(raw).format != LogFormat::kNone) {
      open_ = false;
      return 0;
    }
    append_mark(secret_.kind, out);
  }
  const std::size_t size = secret_.value.find(raw, ends);
  if (size == std::string_view::npos) return raw.size();
  open_ = false;
  return size;
}

std::size_t LineRedactor::take(std::string_view raw, std::size_t wanted, bool ends,
                               std::string& out) {
  const bool all = ends && raw.size() <= wanted;
  std::size_t done = 0;
  if (open_) done = leave_open(raw, ends, out);
  first_piece_ = false;
  if (open_) {
    if (ends) end_line();
    return raw.size();  // still inside: nothing of it is stored
  }
  std::size_t cut = all ? raw.size() : std::min(wanted, raw.size());
  // Not through the middle of a character, if it is one.
  for (int back = 0; !all && back < 3 && cut > 1 && cut < raw.size(); ++back) {
    if ((static_cast<unsigned char>(raw[cut]) & 0xc0) != 0x80) break;
    --cut;
  }
  cut = std::max(cut, done);
  const std::size_t base = done;
  for (Secret secret : rules_->find(raw.substr(base), ends)) {
    secret.context += base;
    secret.begin += base;
    secret.end += base;
    // One may begin at the very end: a block of PEM, in the lines to come.
    if (!all && secret.begin >= cut && secret.context >= cut) break;
    // The key stays with what it tells: both in this piece if they begin it, else in the next.
    if (!all && secret.end > cut && secret.context > done) {
      cut = secret.context;
      break;
    }
    out += raw.substr(done, secret.begin - done);
    append_mark(secret.kind, out);
    counts_.add(secret.kind);
    done = secret.end;
    cut = std::max(cut, done);
    if (secret.open) {
      open_ = true;
      secret_ = secret;
      open_lines_ = 0;
    }
  }
  out += raw.substr(done, cut - done);
  if (all || (ends && cut == raw.size())) end_line();
  return cut;
}

}  // namespace teller
