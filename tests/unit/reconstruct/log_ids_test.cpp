#include "reconstruct/log_ids.h"

#include <gtest/gtest.h>

namespace teller {
namespace {

TEST(LogIds, FindsWholeWordsOnly) {
  Interner ids;
  ids.intern("req-1");
  ids.intern("req-12");
  const RequestMatcher matcher(ids);
  EXPECT_EQ(matcher.find("finished req-12."), 1u);
  EXPECT_EQ(matcher.find("[req-1]: done"), 0u);
  EXPECT_EQ(matcher.find("req-123 xreq-1 req-1x"), kNoIndex);
  EXPECT_EQ(matcher.find(""), kNoIndex);
}

TEST(LogIds, KnowsVllmsInternalNames) {
  Interner ids;
  ids.intern("cmpl-my-req-1-0-871d72e8");
  ids.intern("cmpl-two-0-0a1b2c3d");
  ids.intern("cmpl-two-1-0a1b2c3e");
  const RequestMatcher matcher(ids);
  for (const char* line : {"x cmpl-my-req-1-0-871d72e8 y", "x cmpl-my-req-1-0 y", "my-req-1-0",
                           "aborted cmpl-my-req-1", "my-req-1"}) {
    EXPECT_EQ(matcher.find(line), 0u) << line;
  }
  EXPECT_EQ(matcher.find("cmpl-two-1"), 2u);
  EXPECT_EQ(matcher.find("cmpl-two"), kNoIndex) << "names both";
}

TEST(LogIds, TheLogMayHoldTheLongerName) {
  Interner ids;
  ids.intern("my-req-1");
  const RequestMatcher matcher(ids);
  EXPECT_EQ(matcher.find("Added my-req-1-0-871d72e8"), 0u);
}

TEST(LogIds, PlainNumbersNeedAWordInFront) {
  Interner ids;
  ids.intern("17");
  const RequestMatcher matcher(ids);
  EXPECT_EQ(matcher.find("took 17 ms"), kNoIndex);
  EXPECT_EQ(matcher.find("request 17 failed"), 0u);
  EXPECT_EQ(matcher.find("rid='17'"), 0u);
}

TEST(LogIds, IdsWithOtherCharacters) {
  Interner ids;
  ids.intern("user:42/a.b");
  const RequestMatcher matcher(ids);
  EXPECT_EQ(matcher.find("got user:42/a.b."), 0u);
  EXPECT_EQ(matcher.find("got user:42/a.b: bad"), 0u);
}

}  // namespace
}  // namespace teller
