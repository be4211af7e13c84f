#include "base/file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "../run_folder/temp_dir.h"

namespace teller {
namespace {

namespace fs = std::filesystem;

TEST(WriteFileAtomic, NeverFollowsALinkLeftAtThePartFile) {
  TempDir dir;
  std::ofstream(dir.file("victim")) << "precious";
  fs::create_symlink(dir.file("victim"), part_of(dir.file("out")));
  ASSERT_TRUE(write_file_atomic(dir.file("out"), "new"));
  EXPECT_EQ(*read_file(dir.file("victim"), "test", 100), "precious");
  EXPECT_EQ(*read_file(dir.file("out"), "test", 100), "new");
  EXPECT_FALSE(fs::is_symlink(dir.file("out")));
}

TEST(WriteFileAtomic, DoesNotHangOnAFifoLeftAtThePartFile) {
  TempDir dir;
  ASSERT_EQ(mkfifo(part_of(dir.file("out")).c_str(), 0600), 0);
  ASSERT_TRUE(write_file_atomic(dir.file("out"), "new"));
  EXPECT_EQ(*read_file(dir.file("out"), "test", 100), "new");
}

}  // namespace
}  // namespace teller
