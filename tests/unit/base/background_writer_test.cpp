// Bytes arrive whole and in order; a failure is told, and cuts to what was whole.
#include "base/background_writer.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace teller {
namespace {

namespace fs = std::filesystem;

struct BackgroundWriterTest : testing::Test {
  void SetUp() override {
    folder = testing::TempDir() + "background_writer_test." + std::to_string(getpid());
    fs::create_directories(folder);
  }
  void TearDown() override { fs::remove_all(folder); }
  int open_file(const std::string& name) const {
    return open((folder + "/" + name).c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  }
  std::string content(const std::string& name) const {
    std::ifstream in(folder + "/" + name);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
  }
  std::string folder;
};

TEST_F(BackgroundWriterTest, EachFileHasItsBytesInOrder) {
  const int a = open_file("a");
  const int b = open_file("b");
  std::string expected_a;
  std::string expected_b;
  {
    BackgroundWriter writer(1 << 20);
    for (int i = 0; i < 1000; ++i) {
      writer.append(a, "a", std::to_string(i) + ",");
      writer.append(b, "b", std::to_string(-i) + ";");
      expected_a += std::to_string(i) + ",";
      expected_b += std::to_string(-i) + ";";
    }
    EXPECT_TRUE(writer.finish(a));
    EXPECT_EQ(content("a"), expected_a);
    writer.replace(folder + "/c", "first");
    writer.replace(folder + "/c", "second");
    EXPECT_TRUE(writer.finish(BackgroundWriter::kReplaced));
    EXPECT_EQ(content("c"), "second");
  }
  EXPECT_EQ(content("b"), expected_b);  // the end writes what is left
  close(a);
  close(b);
}

TEST_F(BackgroundWriterTest, AFailureIsToldAndLaterBytesAreThrownAway) {
  const int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
  const int good = open_file("good");
  BackgroundWriter writer(1 << 20);
  writer.append(full, "the full one", "x");
  writer.append(good, "good", "y");
  const Status status = writer.finish(full);
  ASSERT_FALSE(status);
  EXPECT_NE(status.error().message.find("writing the full one"), std::string::npos);
  EXPECT_FALSE(writer.status());
  EXPECT_TRUE(writer.finish(good));
  EXPECT_EQ(content("good"), "y");
  close(full);
  close(good);
}

TEST_F(BackgroundWriterTest, WhatFitsInPartIsCutOff) {
  signal(SIGXFSZ, SIG_IGN);
  const int file = open_file("limited");
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small{1000, before.rlim_max};
  BackgroundWriter writer(1 << 20);
  writer.append(file, "limited", std::string(600, 'a'));
  ASSERT_TRUE(writer.finish(file));
  setrlimit(RLIMIT_FSIZE, &small);
  writer.append(file, "limited", std::string(600, 'b'));
  EXPECT_FALSE(writer.finish(file));
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_EQ(content("limited"), std::string(600, 'a'));
  close(file);
}

TEST_F(BackgroundWriterTest, AStalledFileHoldsUpNobodyAndIsFull) {
  // A pipe that nobody reads stalls its writer.
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  BackgroundWriter writer(1 << 20);
  EXPECT_FALSE(writer.full());
  for (int i = 0; i < 40; ++i) writer.append(ends[1], "pipe", std::string(64 << 10, 'x'));
  EXPECT_TRUE(writer.full());
  std::size_t got = 0;
  std::string buffer(64 << 10, '\0');
  while (got < (40u << 16)) {
    const ssize_t count = read(ends[0], buffer.data(), buffer.size());
    ASSERT_GT(count, 0);
    got += static_cast<std::size_t>(count);
  }
  EXPECT_TRUE(writer.finish(ends[1]));
  EXPECT_FALSE(writer.full());
  close(ends[0]);
  close(ends[1]);
}

}  // namespace
}  // namespace teller
