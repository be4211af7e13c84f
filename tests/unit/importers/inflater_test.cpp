#include "importers/inflater.h"

#include <gtest/gtest.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>

namespace teller {
namespace {

const std::string kText = "some text that is inflated, and inflated, and inflated";

std::string gzip(const std::string& text) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(text.size() + 100, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string zstd(const std::string& text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
  return out;
}

struct Inflated {
  std::string text;
  bool fine = true;
  bool inside = false;
  std::uint64_t behind = 0;
  bool operator==(const Inflated&) const = default;
};

Inflated inflated(const std::string& file, std::size_t piece, std::size_t room) {
  const auto inflater = inflater_for(file);
  Inflated got;
  for (std::size_t at = 0; at < file.size() && got.fine; at += piece) {
    inflater->input(std::string_view(file).substr(at, piece));
    while (got.fine && !inflater->needs_input()) {
      std::string out;
      got.fine = inflater->inflate_to(out, room);
      got.text += out;
    }
  }
  got.inside = inflater->inside_member();
  got.behind = inflater->bytes_behind();
  return got;
}

class InflaterTest : public testing::TestWithParam<std::string (*)(const std::string&)> {};

TEST_P(InflaterTest, WhatStandsBehindIsCountedHoweverItComes) {
  const std::string whole = GetParam()(kText);
  const std::string skippable("\x53\x2a\x4d\x18\x02\0\0\0xy", 10);
  const std::string zeros(700, '\0');
  const bool is_zstd = GetParam() == &zstd;
  struct {
    std::string file;
    Inflated wanted;
  } const cases[] = {
      {whole, {kText, true, false, 0}},
      {whole + whole + GetParam()(""), {kText + kText, true, false, 0}},
      {whole + zeros, {kText, true, false, 0}},
      {whole + "garbage", {kText, true, false, 7}},
      {whole + zeros + "garbage" + zeros, {kText, true, false, 707}},
      {whole + zeros + whole, {kText, true, false, whole.size()}},
      // What begins like another one and is none.
      {whole + (is_zstd ? "\x28\xb5zz" : "\x1fzzz"), {kText, true, false, 4}},
      {whole + whole.substr(0, 1), {kText, true, true, 0}},
      {whole + whole.substr(0, whole.size() - 1), {kText, true, true, 0}},
      {is_zstd ? skippable + whole + skippable : whole, {kText, true, false, 0}},
  };
  for (const auto& [file, wanted] : cases) {
    for (const std::size_t piece :
         {std::size_t{1}, std::size_t{2}, std::size_t{3}, std::size_t{5}, file.size()}) {
      for (const std::size_t room : {1, 7, 4096}) {
        Inflated got = inflated(file, piece, static_cast<std::size_t>(room));
        // Of a member that is cut any part may come out.
        if (wanted.inside) got.text.resize(kText.size());
        EXPECT_EQ(got, wanted) << (&file - &cases[0].file) << " in pieces of " << piece << ", "
                               << room << ": " << got.text << " " << got.behind;
      }
    }
  }
}

TEST_P(InflaterTest, DamageInsideIsDamage) {
  std::string file = GetParam()(kText);
  file[file.size() / 2] = static_cast<char>(file[file.size() / 2] ^ 0x55);
  file[file.size() / 2 + 1] = static_cast<char>(file[file.size() / 2 + 1] ^ 0x55);
  for (const std::size_t piece : {std::size_t{1}, file.size()}) {
    const Inflated got = inflated(file + file, piece, 4096);
    EXPECT_TRUE(!got.fine || got.text != kText + kText);
    EXPECT_EQ(got.behind, 0U);
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, InflaterTest, testing::Values(&gzip, &zstd),
                         [](const auto& one) { return one.param == &zstd ? "zstd" : "gzip"; });

}  // namespace
}  // namespace teller
