#include "base/terminal.h"

#include <gtest/gtest.h>

namespace teller {
namespace {

TEST(Printable, MakesSteeringVisible) {
  EXPECT_EQ(printable("plain é 漢"), "plain é 漢");
  EXPECT_EQ(printable("\x1b[31m"), "\\x1b[31m");
  EXPECT_EQ(printable("a\nb\r"), "a\\x0ab\\x0d");
  EXPECT_EQ(printable("\xc2\x9b"), "\\x9b");        // C1: CSI as one character
  EXPECT_EQ(printable("\xe2\x80\xae"), "\\u202e");  // right-to-left override
  EXPECT_EQ(printable("\xff"), "\\xff");            // no UTF-8
}

}  // namespace
}  // namespace teller
