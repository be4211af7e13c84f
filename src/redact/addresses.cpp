// Users and passwords in front of a host.
#include <algorithm>

#include "redact/chars.h"
#include "redact/secrets.h"

namespace teller {

namespace {

constexpr std::size_t kNone = std::string_view::npos;
constexpr std::size_t kMaxUserInfo = 1024;
constexpr std::size_t kMaxScheme = 16;

std::string_view scheme_before(std::string_view text, std::size_t at) {
  std::size_t begin = at;
  while (begin > 0 && at - begin < kMaxScheme && is_alpha(text[begin - 1])) --begin;
  return text.substr(begin, at - begin);
}

bool is_database(std::string_view scheme) {
  for (const std::string_view front : {"postgres", "mysql", "redis", "amqp", "mongodb"}) {
    if (scheme.starts_with(front)) return true;
  }
  return false;
}

}  // namespace

std::optional<Secret> find_user_info(std::string_view text, std::size_t at) {
  const std::size_t begin = at + 3;
  const std::string_view rest = text.substr(begin, kMaxUserInfo);
  const std::string_view all = rest.substr(0, rest.find_first_of(" \t'\"<>"));
  std::string_view info = all.substr(0, all.find_first_of("/?#"));
  const std::string_view scheme = scheme_before(text, at);
  const std::size_t colon = info.find(':');
  if (info.find('@') == kNone && colon != kNone && !info.starts_with('[')) {
    // A password with "/" in it, unless it is a port that stands before the path.
    const std::string_view port = info.substr(colon + 1);
    if (is_database(scheme) || !std::all_of(port.begin(), port.end(), is_digit)) info = all;
  }
  const std::size_t host = info.rfind('@');
  if (host == kNone) return std::nullopt;
  Secret secret;
  secret.kind = SecretKind::kPassword;
  secret.context = at;
  secret.begin = begin;
  secret.end = begin + host;
  const std::string_view password =
      colon < host ? info.substr(colon + 1, host - colon - 1) : std::string_view();
  if (!password.empty() && password != "x-oauth-basic") {
    secret.begin += colon + 1;
  } else if (!scheme.starts_with("http") && !scheme.ends_with("http") &&
             !scheme.ends_with("https")) {
    return std::nullopt;  // "ssh://git@host": a user is no secret
  }
  return secret;
}

}  // namespace teller
