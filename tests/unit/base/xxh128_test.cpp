// Digests are what xxh128sum prints, however the data arrives.
#include "base/xxh128.h"

#include <gtest/gtest.h>

#include <fstream>

#include "../run_folder/temp_dir.h"
#include "base/file.h"

namespace teller {
namespace {

TEST(Xxh128, IsWhatXxh128sumPrints) {
  EXPECT_EQ(xxh128_text(""), "99aa06d3014798d86001c324468d497f");
  EXPECT_EQ(xxh128_text("a"), "a96faf705af16834e6c632b61e964e1f");
  EXPECT_EQ(xxh128_text(std::string(1'000'000, '\0')), "ef233fc372a159319d648391f361d99a");
}

TEST(Xxh128, PiecesAndFilesAreTheSame) {
  std::string text;
  for (int i = 0; i < 200'000; ++i) text += std::to_string(i);
  Xxh128 digest;
  std::size_t at = 0;
  for (std::size_t size = 1; at < text.size(); size = size * 3 + 1) {
    digest.update(std::string_view(text).substr(at, size));
    at += size;
  }
  EXPECT_EQ(digest.hex(), xxh128_text(text));
  TempDir dir;
  std::ofstream(dir.file("text")) << text;
  EXPECT_EQ(xxh128_file(dir.file("text")).value(), xxh128_text(text));
}

TEST(Xxh128, WhatIsNoFileIsOneLine) {
  TempDir dir;
  EXPECT_FALSE(xxh128_file(dir.file("missing")));
  const auto folder = xxh128_file(dir.file("."));
  ASSERT_FALSE(folder);
  EXPECT_NE(folder.error().message.find("is a folder"), std::string::npos);
}

}  // namespace
}  // namespace teller
