// One HTTP request. Private to context/.
#pragma once

#include <cstdint>
#include <string>

#include "teller/result.h"

namespace teller {

// Parts of "http://HOST[:PORT][/PATH]".
struct HttpUrl {
  std::string host;  // an IPv6 address without its brackets
  std::uint16_t port = 80;
  std::string path = "/";
};
// Fails with kUsage on anything else: https, user names, other characters than URLs have.
Result<HttpUrl> parse_http_url(const std::string& url);

// Longer answers are refused.
inline constexpr std::size_t kMaxAnswerBytes = 16u << 20;

struct HttpAnswer {
  int status = 0;
  std::string body;
};
// Sends GET and reads the answer, each within `timeout_ms`. Follows no redirect.
Result<HttpAnswer> http_get(const HttpUrl& url, int timeout_ms);

}  // namespace teller
