#include "base/json.h"

#include <gtest/gtest.h>

#include <string>

namespace teller {
namespace {

TEST(ParseJson, RefusesWhatIsNestedTooDeeply) {
  const std::string fits = std::string(kMaxJsonDepth, '[') + std::string(kMaxJsonDepth, ']');
  EXPECT_FALSE(parse_json(fits).is_discarded());
  EXPECT_TRUE(parse_json("[" + fits + "]").is_discarded());
  EXPECT_TRUE(parse_json(std::string(1 << 20, '[')).is_discarded());
  EXPECT_TRUE(parse_json(std::string(1 << 20, '{')).is_discarded());
}

TEST(ParseJson, BracketsInStringsAreText) {
  const std::string text = "[\"" + std::string(1000, '[') + "\\\"" + std::string(1000, '{') + "\"]";
  EXPECT_TRUE(parse_json(text).is_array());
}

TEST(IsJsonObject, AgreesWithTheParser) {
  for (const char* text :
       {"", "{", "{}", " {\"a\":[1,{}]}", "[1]", "{} x", "nul", "{\"a\":}", "\"{}\""}) {
    EXPECT_EQ(is_json_object(text), parse_json(text).is_object()) << text;
  }
  EXPECT_FALSE(is_json_object("{\"a\":" + std::string(1 << 20, '[')));
}

TEST(ParseJson, WhatIsNoJsonIsDiscarded) {
  for (const char* text : {"", "{", "nul", "\"", "\"\\", "]"}) {
    EXPECT_TRUE(parse_json(text).is_discarded()) << text;
  }
}

TEST(ParseJson, IsWhatTheParserOfTheLibraryGives) {
  std::string large = "{";
  for (int i = 0; i < 100; ++i)
    large += "\"k" + std::to_string(i % 70) + "\":[" + std::to_string(i) + "],";
  large += "\"k3\":{\"a\":1,\"a\":2}}";
  for (const std::string& text :
       {large,
        std::string(
            R"({"b":1,"a":[true,null,-3,18446744073709551615,1.5e3,"\u00e9\n"],"b":{"c":[]}})"),
        std::string("[]"), std::string("17"), std::string("\"x\""), std::string("{}")}) {
    EXPECT_EQ(parse_json(text).dump(), nlohmann::ordered_json::parse(text).dump()) << text;
  }
}

// Looking each key up among those before it would take minutes.
TEST(ParseJson, HugeObjectsTakeLinearTime) {
  std::string text = "{\"first\":0";
  for (int i = 0; i < 300'000; ++i)
    text += ",\"key" + std::to_string(i) + "\":" + std::to_string(i);
  const auto json = parse_json(text + ",\"first\":1}");
  ASSERT_EQ(json.size(), 300'001U);
  EXPECT_EQ(json.begin().value(), 1);
  EXPECT_EQ(json.back(), 299'999);
}

}  // namespace
}  // namespace teller
