#include "importers/json_text.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>

namespace teller {
namespace {

TEST(AppendCompact, DropsBlanksOutsideOfStringsOnly) {
  std::string out;
  EXPECT_EQ(append_compact(" { \"a b\" : [ 1 ,\n -2.5e+3, \"x  y\" ] , \"c\":null } ", out),
            CopyResult::kClean);
  EXPECT_EQ(out, R"({"a b":[1,-2.5e+3,"x  y"],"c":null})");
}

TEST(AppendCompact, MendsTokensThatAreNoJson) {
  std::string out;
  EXPECT_EQ(append_compact("[nan, -inf, 01, 1., True]", out), CopyResult::kMended);
  EXPECT_EQ(out, R"(["nan","-inf","01","1.","True"])");
}

TEST(AppendCompact, RefusesBrokenStructure) {
  for (const char* text : {"", "[1 2]", "[1,]", "[,1]", "{\"a\"}", "{\"a\":}", "{1:2}", "[}", "1 2",
                           "]", "{\"a\":1,}", "[", "\"a\" \"b\""}) {
    std::string out;
    EXPECT_EQ(append_compact(text, out), CopyResult::kMalformed) << text;
  }
  std::string out;
  EXPECT_EQ(append_compact(std::string(100, '[') + std::string(100, ']'), out),
            CopyResult::kMalformed);
  EXPECT_EQ(append_compact(R"("C:\Users")", out), CopyResult::kNeedsRepair);
  EXPECT_EQ(append_compact(R"("\ud800")", out), CopyResult::kNeedsRepair);
}

TEST(AppendUnescaped, ReadsEveryEscape) {
  std::string out;
  EXPECT_TRUE(append_unescaped(R"(\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00)", out));
  EXPECT_EQ(out, "\"\\/\b\f\n\r\té😀");
}

// Whatever bytes come: the result is a JSON string, and text that was fine is untouched.
TEST(RepairJson, AlwaysGivesValidStrings) {
  std::mt19937 random(3);
  const std::string parts[] = {"a",    "\\",   "\\n", "\\u12", "\\ud800", "\n",
                               "\xE6", "\x97", "é",   "\\\\",  "\x01",    "\xF0\x9F"};
  for (int i = 0; i < 20000; ++i) {
    std::string text = "\"";
    for (unsigned n = random() % 8; n > 0; --n) text += parts[random() % std::size(parts)];
    text += "\"";
    const std::string mended = repair_json(text);
    const bool fine = nlohmann::json::accept(text);
    if (fine) {
      EXPECT_EQ(mended, text);
    }
    // A backslash before the closing quote takes it away; then the quotes no longer pair.
    if (mended.size() >= 2 && string_body(mended) && mended[mended.size() - 2] != '\\') {
      EXPECT_TRUE(nlohmann::json::accept(mended)) << text << " -> " << mended;
    }
  }
}

TEST(FitsJsonTree, BoundsValues) {
  const auto array_of = [](std::size_t values) {
    std::string text = "[0";  // a bracket and a comma for each but the first
    for (std::size_t i = 1; i < values; ++i) text += ",0";
    return text + "]";
  };
  EXPECT_EQ(json_tree_fit(array_of(kMostJsonValues)), JsonTreeFit::kFits);
  EXPECT_EQ(json_tree_fit(array_of(kMostJsonValues + 1)), JsonTreeFit::kManyValues);
  std::string empty = "[{}";
  for (std::size_t i = 0; i < kMostJsonValues / 2; ++i) empty += ",{}";
  EXPECT_EQ(json_tree_fit(empty + "]"), JsonTreeFit::kManyValues);
  EXPECT_EQ(json_tree_fit("\"" + std::string(2 * kMostJsonValues, ',') + "\""), JsonTreeFit::kFits);
}

TEST(FitsJsonTree, BoundsDepthAndMembers) {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_TRUE(fits_json_tree(nested(64)));
  EXPECT_FALSE(fits_json_tree(nested(65)));
  EXPECT_FALSE(fits_json_tree(std::string(400000, '[')));
  EXPECT_FALSE(fits_json_tree("{\"a\":[" + nested(64) + "]}"));
  EXPECT_TRUE(
      fits_json_tree("[\"" + std::string(100, '[') + "\\\"" + std::string(100, '{') + "\"]"));
  EXPECT_TRUE(fits_json_tree("]]]}}}" + nested(64) + "\"\\"));
  std::string members = "[{}";
  for (int i = 0; i < 10000; ++i) members += ",{\"a\":1}";
  EXPECT_TRUE(fits_json_tree(members + "]"));
  std::string object = "{\"x\":{}";
  for (int i = 0; i < 5000; ++i) object += ",\"" + std::to_string(i) + "\":1";
  EXPECT_FALSE(fits_json_tree(object + "}"));
}

}  // namespace
}  // namespace teller
