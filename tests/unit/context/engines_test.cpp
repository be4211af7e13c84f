// Which processes are engines, and where they listen.
#include "context/engines.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

namespace teller {
namespace {

TEST(Engines, AreKnownByTheirArguments) {
  using Arguments = std::vector<std::string>;
  EXPECT_EQ(engine_port(Arguments{"python", "/usr/bin/vllm", "serve", "m"}), 8000);
  EXPECT_EQ(engine_port(Arguments{"vllm", "serve", "m", "--port", "9001"}), 9001);
  EXPECT_EQ(
      engine_port(Arguments{"python", "-m", "vllm.entrypoints.openai.api_server", "--port=7"}), 7);
  EXPECT_EQ(engine_port(Arguments{"python", "-m", "sglang.launch_server"}), 30000);
  EXPECT_EQ(engine_port(Arguments{"sglang", "serve", "--port", "99999"}), 30000);
  for (const Arguments& other :
       {Arguments{}, Arguments{"VLLM::EngineCore"}, Arguments{"vllm", "bench"},
        Arguments{"python", "serve.py", "--port", "8000"}, Arguments{"grep", "vllm"}}) {
    EXPECT_EQ(engine_port(other), 0);
  }
}

TEST(Engines, ListenersAreThoseOfTheProcess) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  socklen_t size = sizeof address;
  getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
  EXPECT_TRUE(listeners_of("", getpid()).empty()) << "bound, and not listening yet";
  ASSERT_EQ(listen(fd, 1), 0);
  const auto found = listeners_of("", getpid());
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].host, "127.0.0.1");
  EXPECT_EQ(found[0].port, ntohs(address.sin_port));
  close(fd);
}

TEST(Engines, TheExpectedPortIsAskedAlone) {
  const std::vector<Listener> all{{"127.0.0.1", 8000, 1}, {"127.0.0.1", 5555, 2}};
  ASSERT_EQ(worth_asking(all, 8000).size(), 1u);
  EXPECT_EQ(worth_asking(all, 8000)[0].port, 8000);
  EXPECT_EQ(worth_asking(all, 9).size(), 2u);
}

}  // namespace
}  // namespace teller
