#include "importers/input_list.h"

#include <gtest/gtest.h>

#include "importers/content_signs.h"

namespace teller {
namespace {

TEST(InputList, NaturalOrder) {
  EXPECT_TRUE(natural_less("rank2.json", "rank10.json"));
  EXPECT_FALSE(natural_less("rank10.json", "rank2.json"));
  EXPECT_TRUE(natural_less("a", "a0"));
  EXPECT_TRUE(natural_less("a01b", "a1c"));
  EXPECT_TRUE(natural_less("a01", "a1"));  // equal numbers: by bytes
  EXPECT_FALSE(natural_less("a1", "a1"));
  // Numbers of any length, without overflow.
  EXPECT_TRUE(natural_less("x99999999999999999999999", "x100000000000000000000000"));
}

TEST(ContentSigns, ChromeTraces) {
  EXPECT_TRUE(is_chrome_trace(R"({"schemaVersion":1,"traceEvents":[]})"));
  EXPECT_TRUE(is_chrome_trace("\xef\xbb\xbf [ {\"ph\":\"X\"}]"));
  EXPECT_FALSE(is_chrome_trace(R"({"a":1})"));
  EXPECT_FALSE(is_chrome_trace("[1, 2]"));
  EXPECT_FALSE(is_chrome_trace(""));
  EXPECT_FALSE(is_chrome_trace("traceEvents"));
}

TEST(ContentSigns, NoTar) {
  EXPECT_FALSE(is_tar(""));
  EXPECT_FALSE(is_tar(std::string(512, '\0')));
  EXPECT_FALSE(is_tar(std::string(1024, 'a')));
}

}  // namespace
}  // namespace teller
