#include "report/terminal.h"

#include <gtest/gtest.h>

namespace teller::report_detail {
namespace {

TEST(Terminal, ControlCharactersBecomeVisible) {
  EXPECT_EQ(printable("plain ×4 é 漢"), "plain ×4 é 漢");
  EXPECT_EQ(printable("\x1b[31mred\x07\r\n"), "\\x1b[31mred\\x07\\x0d\\x0a");
  EXPECT_EQ(printable("\x7f"), "\\x7f");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            "\\x9b31m");  // C1 control sequence introducer
  EXPECT_EQ(printable("a\xe2\x80\xae"
                      "b"),
            "a\\u202eb");                          // right-to-left override
  EXPECT_EQ(printable("\xff\xc3"), "\\xff\\xc3");  // no UTF-8
  EXPECT_EQ(printable("\xc0\x9b"), "\\xc0\\x9b");  // overlong
  EXPECT_EQ(printable("a\tb"), "a b");
  EXPECT_EQ(printable(std::string_view("\0", 1)), "\\x00");
}

TEST(Terminal, CutsAndPadsByColumns) {
  EXPECT_EQ(cut("abcdef", 4), "abc…");
  EXPECT_EQ(cut("äöüß", 4), "äöüß");
  EXPECT_EQ(cut("äöüßx", 4), "äöü…");
  EXPECT_EQ(left("ä", 3), "ä  ");
  EXPECT_EQ(right("ä", 3), "  ä");
  EXPECT_EQ(cut("abc", 0), "");
}

TEST(Terminal, WrapsAtBlanks) {
  EXPECT_EQ(wrap("one two three four five six", 24, "- "), "- one two three four\n  five six\n");
  EXPECT_EQ(wrap("", 24, "- "), "- \n");
}

TEST(Terminal, DurationsHaveThreeDigits) {
  EXPECT_EQ(duration(0), "0 ns");
  EXPECT_EQ(duration(850), "850 ns");
  EXPECT_EQ(duration(12345), "12.3 us");
  EXPECT_EQ(duration(4'560'000), "4.56 ms");
  EXPECT_EQ(duration(123'000'000'000), "123 s");
}

TEST(Terminal, ColoursOnlyWhereAsked) {
  EXPECT_EQ(paint({false, 80}, Ink::kRed, "x"), "x");
  EXPECT_EQ(paint({true, 80}, Ink::kRed, "x"), "\x1b[31mx\x1b[0m");
}

}  // namespace
}  // namespace teller::report_detail
