#include "importers/array_scanner.h"

#include <gtest/gtest.h>

#include <chrono>
#include <random>
#include <string>

namespace teller {
namespace {

// The elements of the array whose text behind '[' is `text`, given in pieces of random sizes.
struct Scanned {
  std::vector<std::string> elements;
  std::uint64_t stray = 0;
  bool done = false;
  bool operator==(const Scanned&) const = default;
};

Scanned scan(const std::string& text, std::size_t largest, unsigned seed) {
  std::mt19937 random(seed);
  ArrayScanner scanner;
  scanner.reset(0);
  Scanned result;
  std::string buffer;
  std::size_t given = 0;
  while (!scanner.done()) {
    const std::size_t size = std::min(text.size() - given, 1 + random() % largest);
    buffer += text.substr(given, size);
    given += size;
    const bool at_end = given == text.size();
    std::string padded = buffer + std::string(ArrayScanner::kPadding, ' ');
    std::vector<ArrayElement> found;
    scanner.scan({padded.data(), buffer.size()}, at_end, found);
    for (const ArrayElement& element : found) {
      result.elements.push_back((element.cut ? "!" : "") +
                                buffer.substr(element.begin, element.end - element.begin));
    }
    if (at_end) break;
    const std::size_t drop = std::min(scanner.keep_from(), buffer.size());
    buffer.erase(0, drop);
    scanner.shift(drop);
  }
  result.stray = scanner.stray();
  result.done = scanner.done();
  return result;
}

TEST(ArrayScanner, FindsElements) {
  const Scanned found = scan(R"( {"a":"}]\"{"} , {"b":[{"c":{}}]} ,{}]{"not":"mine"})", 1000, 1);
  EXPECT_EQ(found.elements,
            (std::vector<std::string>{R"({"a":"}]\"{"})", R"({"b":[{"c":{}}]})", "{}"}));
  EXPECT_TRUE(found.done);
  EXPECT_EQ(found.stray, 0u);
}

TEST(ArrayScanner, CountsWhatIsNoObject) {
  const Scanned found = scan(R"(1, "x", {}, null, [2], true])", 1000, 1);
  EXPECT_EQ(found.elements, (std::vector<std::string>{"{}", "[2]"}));
  EXPECT_EQ(found.stray, 4u);
}

TEST(ArrayScanner, SeesALostBrace) {
  const Scanned found = scan(R"({"ph":"X","args":{"a":1}, {"ph":"X"}])", 1000, 1);
  ASSERT_EQ(found.elements.size(), 2u);
  EXPECT_EQ(found.elements[0].front(), '!');
  EXPECT_EQ(found.elements[1], R"({"ph":"X"})");
}

TEST(ArrayScanner, WhatIsWholeIsNotCut) {
  const std::string whole = R"({"ph":"X","args":{"l":[{"a":1},{"ph":"X"},{"ph":"Y"}]}})";
  const std::string bytes(2 << 20, 'x');
  const std::string large = R"({"ph":"X","args":{"l":[1,{"ph":"X"}],"s":")" + bytes + R"("}})";
  const Scanned found = scan(whole + "," + large + ",\n" + whole + "]", 1 << 16, 1);
  EXPECT_TRUE(found.elements == (std::vector<std::string>{whole, large, whole}));
  EXPECT_TRUE(found.done);
}

TEST(ArrayScanner, SeesLostBracketsOfArrays) {
  const std::string good = R"({"ph":"X","l":[1,2]})";
  for (const char* broken : {R"({"ph":"X","args":{"l":[1,2)", R"({"ph":"X","args":{"l":[1,2}})",
                             R"({"ph":"X","l":[1,2)", R"({"ph":"X","l":[{"a":1)"}) {
    const std::string text = std::string(broken) + "," + good + "," + good + "],\"b\":{\"c\":1}}";
    const Scanned found = scan(text, 1000, 1);
    EXPECT_EQ(found.elements,
              (std::vector<std::string>{"!" + std::string(broken) + ",", good, good}))
        << text;
    EXPECT_TRUE(found.done);
  }
}

// Each broken element is found out by what follows it, but what is scanned again is bounded.
TEST(ArrayScanner, ManyLostBracketsCostLittle) {
  std::string text;
  const std::size_t count = 200'000;
  for (std::size_t i = 0; i < count; ++i) text += R"({"ph":"X","l":[1,)";
  const auto begin = std::chrono::steady_clock::now();
  const Scanned found = scan(text + "{}", 1 << 20, 1);
  EXPECT_EQ(found.elements.size(), count - 1);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}

TEST(ArrayScanner, PiecesDoNotMatter) {
  const std::string parts[] = {"{",        "}",    "[",         "]",  "\"", "\\",
                               "\\\"",     ",",    " ",         "ph", ":1", "\\\\",
                               "{\"ph\":", "\n  ", "{\"ph\" :", "x",  ", "};
  std::mt19937 random(11);
  for (int round = 0; round < 3000; ++round) {
    std::string text;
    for (unsigned n = random() % 200; n > 0; --n) text += parts[random() % std::size(parts)];
    const Scanned whole = scan(text, 1 << 20, 0);
    for (std::size_t largest : {1, 7, 64, 200}) {
      ASSERT_EQ(scan(text, largest, random()), whole) << text;
    }
  }
}

}  // namespace
}  // namespace teller
