#include "learn/log_words.h"

#include <gtest/gtest.h>

namespace teller::learn_detail {
namespace {

using Words = std::vector<std::string>;

TEST(LogWords, WhatVariesIsMasked) {
  EXPECT_EQ(log_words("Preempting request req-3: no free KV block (0/64 free)", "WARNING"),
            (Words{"<level:warning>", "preempting", "request", "<id>", "no", "free", "kv", "block",
                   "<num>", "<num>", "free"}));
  EXPECT_EQ(log_words("took 12ms of 3GiB at 0x7ffe12 in /usr/lib/x.so", ""),
            (Words{"took", "<num>ms", "of", "<num>gib", "at", "<hex>", "in", "<path>"}));
  EXPECT_EQ(log_words("INFO 11-29 22:16:16 [server.py:48] Listening on http://127.0.0.1:35825", ""),
            (Words{"info", "<num>", "<num>", "<time>", "<place>", "listening", "on", "<url>"}));
}

TEST(LogWords, TwoLinesOfOneKindAreEqual) {
  EXPECT_EQ(log_words("Received request req-4: prompt 258 tokens", "INFO"),
            log_words("Received request req-11: prompt 7 tokens", "INFO"));
}

TEST(LogWords, LongAndStrangeLinesStayBounded) {
  EXPECT_LE(log_words(std::string(1 << 20, 'a'), "").size(), 48U);
  EXPECT_LE(log_words(std::string(100000, ' ') + std::string("\xff\xfe"), "").size(), 48U);
  std::string many;
  for (int i = 0; i < 1000; ++i)
    many += "w" + std::string(1, static_cast<char>('a' + i % 26)) + " ";
  EXPECT_EQ(log_words(many, "", 10).size(), 10U);
}

TEST(WordTable, KeepsTheMostFrequentAndBreaksTiesByBytes) {
  WordCounter counter;
  counter.add({"b", "b", "a", "a", "c"});
  const WordTable table = counter.table(2, 10);
  EXPECT_EQ(table.words(), (Words{"a", "b"}));
  EXPECT_EQ(table.id("a"), 2U);
  EXPECT_EQ(table.id("c"), WordTable::kUnknown);
  EXPECT_EQ(table.size(), 4U);
  EXPECT_EQ(counter.table(1, 1).words(), Words{"a"});
}

}  // namespace
}  // namespace teller::learn_detail
