#include "run_folder/column_file.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/file.h"
#include "temp_dir.h"

namespace teller {
namespace {

const std::vector<std::uint32_t> kNumbers = {1, 2, 3, 0xffffffff};
const std::vector<double> kShares = {0.5, 0.25};

void write_file(const std::string& path) {
  auto writer = ColumnFileWriter::create(path);
  ASSERT_TRUE(writer);
  ASSERT_TRUE(writer->add<std::uint32_t>("t", "numbers", kNumbers));
  ASSERT_TRUE(writer->add<double>("t", "shares", kShares));
  ASSERT_TRUE(writer->add<double>("t", "nothing", std::vector<double>{}));
  ASSERT_TRUE(writer->finish());
}

TEST(ColumnFile, GivesBackWhatWasWritten) {
  TempDir dir;
  write_file(dir.file("a.tcol"));
  auto file = ColumnFile::open(dir.file("a.tcol"));
  ASSERT_TRUE(file) << file.error().message;
  auto numbers = file->column<std::uint32_t>("t", "numbers");
  ASSERT_TRUE(numbers);
  EXPECT_TRUE(std::equal(numbers->begin(), numbers->end(), kNumbers.begin(), kNumbers.end()));
  EXPECT_EQ(file->column<double>("t", "shares")->size(), 2u);
  EXPECT_EQ(file->column<double>("t", "nothing")->size(), 0u);
  EXPECT_FALSE(file->column<double>("t", "numbers"));
  EXPECT_FALSE(file->column<double>("t", "none"));
}

TEST(ColumnFile, EveryTruncationIsAnError) {
  TempDir dir;
  write_file(dir.file("a.tcol"));
  const std::string whole = *read_file(dir.file("a.tcol"), "test", 1 << 20);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    std::ofstream(dir.file("cut.tcol"), std::ios::binary) << whole.substr(0, size);
    EXPECT_FALSE(ColumnFile::open(dir.file("cut.tcol"))) << size;
  }
}

TEST(ColumnFile, EveryFlippedByteThatHoldsSomethingIsAnError) {
  TempDir dir;
  write_file(dir.file("a.tcol"));
  const std::string whole = *read_file(dir.file("a.tcol"), "test", 1 << 20);
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string flipped = whole;
    flipped[at] = static_cast<char>(flipped[at] ^ 0x40);
    std::ofstream(dir.file("bad.tcol"), std::ios::binary) << flipped;
    const bool opened = ColumnFile::open(dir.file("bad.tcol")).ok();
    if (opened) {
      EXPECT_TRUE(whole[at] == 0) << at;  // padding and the minor version
    }
  }
}

TEST(ColumnFile, AnUnfinishedFileLeavesNothing) {
  TempDir dir;
  {
    auto writer = ColumnFileWriter::create(dir.file("a.tcol"));
    ASSERT_TRUE(writer);
    ASSERT_TRUE(writer->add<double>("t", "shares", kShares));
  }
  EXPECT_TRUE(std::filesystem::is_empty(dir.path()));
}

}  // namespace
}  // namespace teller
