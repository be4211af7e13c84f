// Bytes arrive whole and in order, the digest is that of the file, and a failure is told.
#include "base/hashing_writer.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <sstream>

#include "base/file.h"

namespace teller {
namespace {

ByteBuffer bytes_of(std::string_view text) {
  ByteBuffer bytes;
  bytes.append(text);
  return bytes;
}

TEST(HashingWriter, FileAndDigestAgree) {
  const std::string path = testing::TempDir() + "hashing_writer." + std::to_string(getpid());
  std::string expected;
  HashingWriter writer(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600), path);
  for (int i = 0; i < 300; ++i) {
    ByteBuffer bytes = writer.spare();
    EXPECT_TRUE(bytes.empty());
    bytes.append(std::string(static_cast<std::size_t>(i) * 997, static_cast<char>('a' + i % 26)));
    expected += bytes.view();
    ASSERT_TRUE(writer.append(std::move(bytes)));
  }
  ASSERT_TRUE(writer.finish());
  std::stringstream content;
  content << std::ifstream(path).rdbuf();
  EXPECT_EQ(content.str(), expected);
  EXPECT_EQ(writer.digest(), xxh128_text(expected));
  std::remove(path.c_str());
}

TEST(HashingWriter, TellsAFullDisk) {
  HashingWriter writer(open("/dev/full", O_WRONLY | O_CLOEXEC), "the file");
  static_cast<void>(writer.append(bytes_of("x")));
  const Status status = writer.finish();
  ASSERT_FALSE(status);
  EXPECT_NE(status.error().message.find("writing the file: No space left"), std::string::npos)
      << status.error().message;
  EXPECT_EQ(writer.digest(), "");
}

// Nobody waits for a disk that takes no more.
TEST(HashingWriter, FailsWhileMuchIsWaiting) {
  HashingWriter writer(open("/dev/full", O_WRONLY | O_CLOEXEC), "the file");
  bool failed = false;
  for (int i = 0; i < 100; ++i) {
    failed = failed || !writer.append(bytes_of(std::string(1 << 20, 'x')));
  }
  EXPECT_TRUE(failed);
}

}  // namespace
}  // namespace teller
