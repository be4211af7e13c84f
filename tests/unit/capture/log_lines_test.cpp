#include "capture/log_lines.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <vector>

namespace teller::capture {
namespace {

// Feeds `bytes` in pieces of `piece` bytes; texts of the lines that come out.
std::vector<std::string> texts(const std::string& bytes, std::size_t piece) {
  static const Redactor kRules = std::move(Redactor::create({}).value());
  LogLines lines("stdout", 1, &kRules);
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += piece) lines.add(1, bytes.substr(i, piece), out);
  lines.finish(out);
  std::vector<std::string> found;
  std::istringstream stream(out);
  for (std::string line; std::getline(stream, line);) {
    found.push_back(nlohmann::json::parse(line).at("text"));
  }
  return found;
}

TEST(LogLines, CutsAlikeHoweverTheBytesArrive) {
  const std::string bytes = "one\ntwo\r\n\n10%\r20%\rend\nlast";
  const std::vector<std::string> expected{"one", "two", "", "10%", "20%", "end", "last"};
  for (std::size_t piece = 1; piece <= bytes.size(); ++piece) {
    EXPECT_EQ(texts(bytes, piece), expected) << piece;
  }
}

TEST(LogLines, LongLinesAreCutBetweenCharacters) {
  std::string bytes;
  while (bytes.size() < 3 * kMaxLineBytes) bytes += "\xe4\xb8\xad";
  std::string joined;
  for (const std::string& text : texts(bytes, 1000)) joined += text;
  EXPECT_EQ(joined, bytes);
}

TEST(LogLines, SecretsAreFoundHoweverTheBytesArrive) {
  const std::string bytes =
      "curl -H 'Authorization: Bearer abc.def-123' x\nkey hf_abcdefghijklmnop1 y\n";
  const std::vector<std::string> expected{"curl -H 'Authorization: Bearer <redacted:bearer>' x",
                                          "key <redacted:hf_token> y"};
  for (std::size_t piece = 1; piece <= bytes.size(); ++piece) {
    EXPECT_EQ(texts(bytes, piece), expected) << piece;
  }
}

TEST(LogLines, ASecretAtThePlaceWhereALongLineIsCutIsNotStored) {
  for (std::size_t before = kMaxLineBytes - 60; before < kMaxLineBytes + 20; before += 7) {
    const std::string bytes =
        std::string(before, 'x') + " api_key='s3cret-s3cret' " + std::string(100, 'y') + "\n";
    std::string joined;
    for (const std::string& text : texts(bytes, 4096)) joined += text;
    EXPECT_EQ(joined.find("s3cret"), std::string::npos) << before;
    EXPECT_EQ(joined,
              std::string(before, 'x') + " api_key=<redacted:api_key> " + std::string(100, 'y'));
  }
}

TEST(LogLines, APromptLongerThanAPieceIsNotStored) {
  std::string prompt;
  while (prompt.size() < 3 * kMaxLineBytes) prompt += "it's a prompt. ";
  const auto found = texts("Received request r: prompt: '" + prompt + "', params: x\nnext\n", 5000);
  std::string joined;
  for (std::size_t i = 0; i + 1 < found.size(); ++i) joined += found[i];
  EXPECT_EQ(joined, "Received request r: prompt: <redacted:prompt>, params: x");
  EXPECT_EQ(found.back(), "next");
}

TEST(JsonString, ReplacesWhatIsNotUtf8AndSaysSo) {
  std::string out;
  EXPECT_TRUE(append_json_string(out, "a\"\\\t\x01 \xc3\xa9 \xf0\x9f\x98\x80"));
  EXPECT_EQ(nlohmann::json::parse(out), "a\"\\\t\x01 \xc3\xa9 \xf0\x9f\x98\x80");
  for (const char* bad :
       {"\xff", "\xc3", "\xe2\x82", "\xed\xa0\x80", "\xc0\xaf", "\xf5\x80\x80\x80", "\x80"}) {
    out.clear();
    EXPECT_FALSE(append_json_string(out, bad)) << bad;
    EXPECT_TRUE(nlohmann::json::accept(out)) << out;
  }
}

}  // namespace
}  // namespace teller::capture
