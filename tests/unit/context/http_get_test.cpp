// Addresses, and servers that do not behave.
#include "context/http_get.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

namespace teller {
namespace {

// Answers one request with `answer`, byte for byte, and closes.
class OneAnswer {
 public:
  explicit OneAnswer(std::string answer) : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(bind(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    socklen_t size = sizeof address;
    getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size);
    port = ntohs(address.sin_port);
    EXPECT_EQ(listen(fd_, 1), 0);
    thread_ = std::thread([this, text = std::move(answer)] {
      const int client = accept(fd_, nullptr, nullptr);
      char request[4096];
      if (recv(client, request, sizeof request, 0) > 0) {
        for (std::size_t sent = 0; sent < text.size();) {
          const ssize_t count = send(client, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
          if (count <= 0) break;
          sent += static_cast<std::size_t>(count);
        }
        if (text.empty()) recv(client, request, 1, 0);  // says nothing until the client leaves
      }
      close(client);
    });
  }
  ~OneAnswer() {
    thread_.join();
    close(fd_);
  }
  std::uint16_t port = 0;

 private:
  int fd_;
  std::thread thread_;
};

Result<HttpAnswer> ask(const std::string& answer, int timeout_ms = 5000) {
  OneAnswer server(answer);
  return http_get({"127.0.0.1", server.port, "/metrics"}, timeout_ms);
}

TEST(HttpUrl, IsReadOrRefused) {
  const auto plain = parse_http_url("http://localhost:8000/metrics");
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->host, "localhost");
  EXPECT_EQ(plain->port, 8000);
  EXPECT_EQ(plain->path, "/metrics");
  EXPECT_EQ(parse_http_url("http://[::1]:9/x")->host, "::1");
  EXPECT_EQ(parse_http_url("http://h")->path, "/");
  for (const char* bad :
       {"https://h/", "h:1", "http://", "http://:1/", "http://h:0/", "http://h:99999/",
        "http://h:x/", "http://u:p@h/", "http://h/a\r\nX: y", "file:///etc/passwd"}) {
    const auto refused = parse_http_url(bad);
    ASSERT_FALSE(refused) << bad;
    EXPECT_EQ(refused.error().code, ErrorCode::kUsage);
    EXPECT_EQ(refused.error().message.find("u:p"), std::string::npos);
  }
}

TEST(HttpGet, ReadsAnAnswer) {
  const auto answer = ask("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\na 1\n");
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->status, 200);
  EXPECT_EQ(answer->body, "a 1\n");
}

TEST(HttpGet, FollowsNoRedirect) {
  const auto answer =
      ask("HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\n"
          "Content-Length: 0\r\n\r\n");
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->status, 302);
}

TEST(HttpGet, RefusesLongAnswers) {
  const std::string body(kMaxAnswerBytes + 1, 'x');
  const auto answer =
      ask("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body,
          30000);
  ASSERT_FALSE(answer);
  EXPECT_NE(answer.error().message.find("16 MiB"), std::string::npos);
}

TEST(HttpGet, GivesUpOnSilenceAndNonsense) {
  EXPECT_FALSE(ask("", 100));
  EXPECT_FALSE(ask("\x16\x03\x01 not HTTP\n\n", 500));
  EXPECT_FALSE(http_get({"127.0.0.1", 1, "/"}, 500)) << "nobody listens";
}

}  // namespace
}  // namespace teller
