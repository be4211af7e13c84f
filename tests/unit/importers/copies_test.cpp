#include "importers/copies.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>

#include "../run_folder/temp_dir.h"

namespace teller {
namespace {

using Copies = std::vector<std::optional<std::size_t>>;

class CopiesTest : public testing::Test {
 protected:
  void file(const std::string& text, const std::string& apart = "", const std::string& twin = "") {
    const std::string path = folder_.file(std::to_string(files_.size()));
    std::ofstream(path, std::ios::binary) << text;
    files_.push_back({path, apart, twin});
  }
  void compressed(const std::string& text) {
    const std::string path = folder_.file(std::to_string(files_.size()));
    gzFile out = gzopen(path.c_str(), "wb");
    ASSERT_GT(gzwrite(out, text.data(), static_cast<unsigned>(text.size())), 0);
    gzclose(out);
    files_.push_back({path});
  }
  Copies find(const CopyLimits& limits = {}) {
    return find_copies(files_, nullptr, limits).value();
  }

  TempDir folder_;
  std::vector<CopyCandidate> files_;
};

TEST_F(CopiesTest, EqualBytesAreCopiesCompressedOrNot) {
  const std::string large(3u << 20, 'x');  // more than is looked at first
  file(large + "a");
  file(large + "b");
  compressed(large + "a");
  file(large + "b");
  file("short");
  EXPECT_EQ(find(), (Copies{std::nullopt, std::nullopt, 0, 1, std::nullopt}));
}

TEST_F(CopiesTest, WhatIsApartIsNoCopy) {
  file("same", "0");
  file("same", "1");
  file("same", "0");
  EXPECT_EQ(find(), (Copies{std::nullopt, std::nullopt, 0}));
}

TEST_F(CopiesTest, OfWhatIsAlikeByChanceOnlyTwinsAreCopies) {
  file("same", "", "a.log");
  file("same", "", "b.log");
  file("same", "", "a.log");
  EXPECT_EQ(find(), (Copies{std::nullopt, std::nullopt, 0}));
  EXPECT_EQ(twin_name("/d/a.log.gz"), "/d/a.log");
  EXPECT_EQ(twin_name("/d/a.log.zst"), twin_name("/d/a.log"));
  EXPECT_EQ(twin_name("/d/gz"), "/d/gz");
}

TEST_F(CopiesTest, OneFileIsOneWhateverThePath) {
  file("", "", "a.log");
  std::filesystem::create_symlink(files_[0].path, folder_.file("link"));
  std::filesystem::create_hard_link(files_[0].path, folder_.file("hard"));
  files_.push_back({folder_.file("link"), "", "link"});
  files_.push_back({folder_.file("hard"), "", "hard"});
  files_.push_back({folder_.file("hard"), "other rank", "hard"});
  EXPECT_EQ(find(), (Copies{std::nullopt, 0, 0, std::nullopt}));
}

TEST_F(CopiesTest, BlankMissingAndHugeFilesAreCopiesOfNone) {
  for (int i = 0; i < 2; ++i) file("");
  for (int i = 0; i < 2; ++i) file(" \n\n");
  for (int i = 0; i < 2; ++i) files_.push_back({folder_.file("missing")});
  EXPECT_EQ(find(), Copies(6));
  files_.clear();
  for (int i = 0; i < 2; ++i) compressed(std::string(1u << 16, 'x'));
  EXPECT_EQ(find(), (Copies{std::nullopt, 0}));
  EXPECT_EQ(find({.times = 10, .always_bytes = 1000}), Copies(2));
}

TEST_F(CopiesTest, StopsWhenAsked) {
  const std::atomic<bool> stop = true;
  for (int i = 0; i < 2; ++i) file("same");
  const auto copies = find_copies(files_, &stop);
  ASSERT_FALSE(copies.ok());
  EXPECT_EQ(copies.error().code, ErrorCode::kInterrupted);
}

}  // namespace
}  // namespace teller
