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

}  // namespace
}  // namespace teller
