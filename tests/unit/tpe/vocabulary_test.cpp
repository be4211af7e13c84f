#include "tpe/vocabulary.h"

#include <gtest/gtest.h>

#include <fstream>

#include "../run_folder/temp_dir.h"
#include "naive.h"

namespace teller::tpe {
namespace {

Result<Vocabulary> read_text(const std::string& text) {
  TempDir dir;
  std::ofstream(dir.file("tpe.json")) << text;
  return read_vocabulary(dir.file("tpe.json"));
}

TEST(Vocabulary, GivesBackWhatWasWritten) {
  const Vocabulary vocabulary = testing::vocabulary_of(3, {{6, 7}, {9, 8}});
  auto read = read_text(vocabulary_json(vocabulary));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->symbols, vocabulary.symbols);
  EXPECT_EQ(read->merges, vocabulary.merges);
  EXPECT_EQ(read->size(), 11u);
  EXPECT_FALSE(read->of_runs);
  EXPECT_EQ(read->sha256.size(), 64u);
}

// What is refused after `from` was replaced by `to` in a good file; "" if nothing is.
std::string refusal(const std::string& from, const std::string& to) {
  std::string text = vocabulary_json(testing::vocabulary_of(3, {{6, 7}, {9, 8}}));
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  auto read = read_text(text.replace(at, from.size(), to));
  return read ? "" : read.error().message;
}

TEST(Vocabulary, WhatIsWrongIsNamed) {
  EXPECT_EQ(refusal("[[6,7]", "[[6,8]"), "");
  const auto expect = [](const char* from, const char* to, const char* says) {
    EXPECT_NE(refusal(from, to).find(says), std::string::npos) << to << ": " << refusal(from, to);
  };
  expect("teller.tpe", "other", "no teller.tpe file");
  expect("\"version\": 1", "\"version\": 2", "version is not 1");
  expect("\"vocab_size\": 11", "\"vocab_size\": 1000000000000", "vocab_size");
  expect("\"vocab_size\": 11", "\"vocab_size\": -1", "vocab_size");
  expect("\"vocab_size\": 11", "\"vocab_size\": 10", "2 merges, more than");
  expect("\"vocab_size\": 11", "\"vocab_size\": 8", "3 symbols, more than");
  expect("<pad>", "<x>", "specials");
  expect("\"s1\"", "\"s0\"", "symbol 1 stands twice");
  expect("\"s1\"", "5", "symbol 1 is no text");
  expect("[9,8]", "[10,8]", "merge 1 is no pair");
  expect("[9,8]", "[11,8]", "merge 1 is no pair");
  expect("[9,8]", "[-1,8]", "merge 1 is no pair");
  expect("[9,8]", "[2,8]", "merge 1 is no pair");
  expect("[9,8]", "[9]", "merge 1 is no pair");
  expect("[9,8]", "[6,7]", "merge 1 stands twice");
  expect("\"of\":\"symbols\"", "\"of\":3", "options.of");
}

TEST(Vocabulary, TokensThatStandForTooMuchAreRefused) {
  std::vector<Merge> merges;
  for (Id id = kSpecialCount; merges.size() < 40; ++id) merges.push_back({id, id});
  EXPECT_FALSE(read_text(vocabulary_json(testing::vocabulary_of(1, merges))));
  merges.resize(30);
  const Vocabulary vocabulary = testing::vocabulary_of(1, merges);
  EXPECT_TRUE(read_text(vocabulary_json(vocabulary)));
  EXPECT_FALSE(decode(vocabulary, {36}));  // 2^30 symbols
  EXPECT_TRUE(decode(vocabulary, {20}));
}

TEST(Vocabulary, IdsItLacksAreRefused) {
  const Vocabulary vocabulary = testing::vocabulary_of(3, {{6, 7}});
  EXPECT_FALSE(decode(vocabulary, {10}));
  EXPECT_EQ(*decode(vocabulary, {1, 9}), (std::vector<Id>{1, 6, 7}));
}

}  // namespace
}  // namespace teller::tpe
