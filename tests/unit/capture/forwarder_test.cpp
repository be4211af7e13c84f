#include "capture/forwarder.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <thread>

namespace teller::capture {
namespace {

struct Pipe {
  int ends[2] = {-1, -1};  // read, write
  Pipe() { EXPECT_EQ(pipe(ends), 0); }
};

std::string text_of(const std::vector<Chunk>& chunks) {
  std::string text;
  for (const Chunk& chunk : chunks) text += chunk.bytes;
  return text;
}

// Several threads write as a program does, one takes what arrived, one reads what was passed on.
TEST(Forwarder, PassesOnAndKeepsEveryByteWhileOthersWriteAndTake) {
  constexpr int kWriters = 3, kLines = 2000;
  Pipe from, to;
  Channel channel;
  channel.stream = "stdout";
  channel.our_end = from.ends[0];
  channel.destination = to.ends[1];
  std::size_t passed_on = 0;
  std::string kept;
  std::thread reads([&] {
    char buffer[4096];
    const std::size_t all = std::size_t{kWriters} * kLines * 5;
    while (passed_on < all) {
      const ssize_t got = read(to.ends[0], buffer, sizeof buffer);
      if (got <= 0) return;
      passed_on += static_cast<std::size_t>(got);
    }
  });
  {
    Forwarder forwarder(channel);
    std::vector<std::thread> writers;
    for (int w = 0; w < kWriters; ++w) {
      writers.emplace_back([&] {
        for (int i = 0; i < kLines; ++i) EXPECT_EQ(write(from.ends[1], "line\n", 5), 5);
      });
    }
    std::thread closes([&] {
      for (std::thread& writer : writers) writer.join();
      close(from.ends[1]);
    });
    while (!forwarder.ended()) kept += text_of(forwarder.take());
    kept += text_of(forwarder.take());
    closes.join();
    EXPECT_EQ(forwarder.unkept_bytes() + kept.size(), std::size_t{kWriters} * kLines * 5);
    EXPECT_EQ(forwarder.unforwarded_bytes(), 0u);
  }
  reads.join();
  EXPECT_EQ(passed_on, std::size_t{kWriters} * kLines * 5);
  close(to.ends[0]);
}

}  // namespace
}  // namespace teller::capture
