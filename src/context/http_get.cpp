#include "context/http_get.h"

#include <httplib.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <string_view>

namespace teller {

namespace {

Error failed(const HttpUrl& url, const std::string& why) {
  return {ErrorCode::kIo,
          "reading http://" + url.host + ":" + std::to_string(url.port) +
              url.path.substr(0, url.path.find('?')) + ": " + why,
          ""};
}

Error bad_url(const std::string& url, const std::string& why) {
  return {ErrorCode::kUsage, "reading the address " + url + ": " + why,
          "give http://HOST:PORT/metrics"};
}

bool is_url_character(char c) {
  return c > ' ' && c < 0x7f && c != '"' && c != '<' && c != '>' && c != '\\';
}

}  // namespace

Result<HttpUrl> parse_http_url(const std::string& url) {
  std::string_view rest = url;
  if (!rest.starts_with("http://")) return bad_url(url, "it does not begin with http://");
  if (!std::all_of(rest.begin(), rest.end(), is_url_character)) {
    return bad_url("given", "it has characters that no address has");
  }
  rest.remove_prefix(7);
  HttpUrl parsed;
  const std::size_t slash = rest.find('/');
  if (slash != std::string_view::npos) parsed.path = rest.substr(slash);
  std::string_view host = rest.substr(0, slash);
  if (host.find('@') != std::string_view::npos) {
    return bad_url("with a user name in it", "names and passwords are not sent");
  }
  const std::size_t bracket = host.find(']');
  const std::size_t colon =
      host.find(':', host.starts_with("[") && bracket != std::string_view::npos ? bracket : 0);
  if (colon != std::string_view::npos) {
    const std::string_view port = host.substr(colon + 1);
    const auto read = std::from_chars(port.data(), port.data() + port.size(), parsed.port);
    if (read.ec != std::errc() || read.ptr != port.data() + port.size() || parsed.port == 0) {
      return bad_url(url, "its port is no number from 1 to 65535");
    }
    host = host.substr(0, colon);
  }
  if (host.starts_with("[") && host.ends_with("]")) host = host.substr(1, host.size() - 2);
  if (host.empty()) return bad_url(url, "it names no host");
  parsed.host = host;
  return parsed;
}

Result<HttpAnswer> http_get(const HttpUrl& url, int timeout_ms) {
  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + std::chrono::milliseconds(timeout_ms);
  const auto limit = std::chrono::milliseconds(timeout_ms);
  HttpAnswer answer;
  std::string stopped;
  try {
    httplib::Client client(url.host, url.port);
    client.set_connection_timeout(limit);
    client.set_read_timeout(limit);
    client.set_write_timeout(limit);
    client.set_follow_location(false);
    client.set_keep_alive(false);
    const httplib::Headers headers = {{"Accept", "text/plain"}, {"Accept-Encoding", "identity"}};
    const auto result = client.Get(
        url.path, headers,
        [&](const httplib::Response& response) {
          answer.status = response.status;
          return true;
        },
        [&](const char* data, std::size_t size) {
          if (answer.body.size() + size > kMaxAnswerBytes) stopped = "the answer is over 16 MiB";
          if (Clock::now() > deadline) stopped = "the answer took too long";
          if (!stopped.empty()) return false;
          answer.body.append(data, size);
          return true;
        });
    if (!stopped.empty()) return failed(url, stopped);
    if (!result) return failed(url, httplib::to_string(result.error()));
    answer.status = result->status;
  } catch (const std::exception& error) {
    return failed(url, error.what());
  }
  return answer;
}

}  // namespace teller
