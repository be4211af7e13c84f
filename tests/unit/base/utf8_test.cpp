#include "base/utf8.h"

#include <gtest/gtest.h>

namespace teller {
namespace {

TEST(Utf8, ReadsEveryCodePointThatItWrites) {
  for (std::uint32_t code = 0; code <= 0x10FFFF; ++code) {
    if (code >= 0xD800 && code <= 0xDFFF) continue;
    std::string text;
    append_utf8(code, text);
    const Utf8Piece piece = read_utf8(text + "z");
    ASSERT_TRUE(piece.valid) << code;
    ASSERT_EQ(piece.length, text.size()) << code;
    ASSERT_EQ(piece.code, code);
    // Each beginning of it is one broken character.
    for (std::size_t cut = 1; cut < text.size(); ++cut) {
      const Utf8Piece broken = read_utf8(std::string_view(text).substr(0, cut));
      ASSERT_FALSE(broken.valid) << code;
      ASSERT_EQ(broken.length, cut) << code;
    }
  }
}

TEST(Utf8, RefusesWhatIsNoCharacter) {
  EXPECT_EQ(read_utf8("").length, 0u);
  for (const char* bad : {"\x80", "\xC0\xAF", "\xC1\xBF", "\xE0\x9F\xBF", "\xED\xA0\x80",
                          "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF"}) {
    EXPECT_FALSE(read_utf8(bad).valid) << bad;
    EXPECT_EQ(read_utf8(bad).length, 1u) << bad;
  }
}

TEST(Utf8, ReplacesLikeOtherReaders) {
  const auto valid = [](std::string_view text) {
    std::string out;
    append_valid_utf8(text, out);
    return out;
  };
  EXPECT_EQ(valid("é😀"), "é😀");
  EXPECT_EQ(valid("a\xE6\x97"), "a\uFFFD");
  EXPECT_EQ(valid("\xF0\x9F\x98z"), "\uFFFDz");
  EXPECT_EQ(valid("\xC0\x80\xFF"), "\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(valid("\xED\xA0\x80"), "\uFFFD\uFFFD\uFFFD");
}

}  // namespace
}  // namespace teller
