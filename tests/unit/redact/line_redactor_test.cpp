// Secrets do not come through where lines come in pieces, or where a prompt spans lines.
#include <gtest/gtest.h>

#include "redact/redact.h"

namespace teller {
namespace {

class LineRedactorTest : public testing::Test {
 protected:
  // Feeds whole lines; what may be stored of each.
  std::string line(const std::string& text) {
    std::string out;
    EXPECT_EQ(redactor_.take(text, 64 << 10, true, out), text.size());
    return out;
  }
  Redactor rules_ = std::move(Redactor::create({}).value());
  LineRedactor redactor_{&rules_};
};

TEST_F(LineRedactorTest, APromptThatSpansLinesEndsAtItsQuote) {
  EXPECT_EQ(line("prompt: 'first"), "prompt: <redacted:prompt>");
  EXPECT_EQ(line("second, it's long"), "<redacted:prompt>");
  EXPECT_EQ(line("third', params: 1"), "<redacted:prompt>, params: 1");
  EXPECT_EQ(line("free"), "free");
}

TEST_F(LineRedactorTest, APromptWithoutEndEndsAtTheNextLogLine) {
  EXPECT_EQ(line("prompt: 'first"), "prompt: <redacted:prompt>");
  EXPECT_EQ(line("second"), "<redacted:prompt>");
  EXPECT_EQ(line("INFO 02-25 11:11:31 [a.py:1] ready"), "INFO 02-25 11:11:31 [a.py:1] ready");
  EXPECT_EQ(line("free"), "free");
}

TEST_F(LineRedactorTest, AListThatSpansLinesEndsAtItsBracket) {
  EXPECT_EQ(line("\"messages\": ["), "\"messages\": <redacted:prompt>");
  EXPECT_EQ(line("  {\"content\": \"]\"}"), "<redacted:prompt>");
  EXPECT_EQ(line("], \"n\": 1"), "<redacted:prompt>, \"n\": 1");
}

TEST_F(LineRedactorTest, SecretsWithoutQuotesEndWithTheirLine) {
  EXPECT_EQ(line("password: abc"), "password: <redacted:password>");
  EXPECT_EQ(line("free"), "free");
  EXPECT_EQ(line("Cookie: a=1; b=2"), "Cookie: <redacted:bearer>");
  EXPECT_EQ(line("free"), "free");
}

TEST_F(LineRedactorTest, AQuotedSecretThatSpansLinesEndsAtItsQuote) {
  EXPECT_EQ(line("api_key='a"), "api_key=<redacted:api_key>");
  EXPECT_EQ(line("X', port=1"), "<redacted:api_key>, port=1");
  EXPECT_EQ(line("prompt=\"\"\"a \"b\""), "prompt=<redacted:prompt>");
  EXPECT_EQ(line("''' X\"\"\", n=1"), "<redacted:prompt>, n=1");
}

TEST_F(LineRedactorTest, ASecretWithoutEndEndsAtTheNextLogLine) {
  EXPECT_EQ(line("password: 'abc"), "password: <redacted:password>");
  EXPECT_EQ(line("INFO 02-25 11:11:31 [a.py:1] ready"), "INFO 02-25 11:11:31 [a.py:1] ready");
  EXPECT_EQ(line("password: 'abc"), "password: <redacted:password>");
  for (int i = 0; i < 100; ++i) EXPECT_EQ(line("X"), "<redacted:password>");
  EXPECT_EQ(line("free"), "free");
}

TEST_F(LineRedactorTest, ABlockOfPemEndsAtItsMark) {
  EXPECT_EQ(line("-----BEGIN RSA PRIVATE KEY-----"),
            "-----BEGIN RSA PRIVATE KEY-----<redacted:api_key>");
  EXPECT_EQ(line("MIIEpAIBAAKCAQEA"), "<redacted:api_key>");
  EXPECT_EQ(line("-----END RSA PRIVATE KEY-----"), "<redacted:api_key> RSA PRIVATE KEY-----");
  EXPECT_EQ(line("free"), "free");
}

TEST_F(LineRedactorTest, PiecesAreCutBeforeTheKeyOfASecret) {
  const std::string text = "0123456789 api_key=abcdef rest";
  for (std::size_t wanted = 1; wanted < text.size(); ++wanted) {
    LineRedactor redactor(&rules_);
    std::string out;
    std::string_view raw = text;
    while (!raw.empty()) {
      const std::size_t taken = redactor.take(raw, wanted, true, out);
      ASSERT_GT(taken, 0u);
      raw.remove_prefix(taken);
    }
    EXPECT_EQ(out, "0123456789 api_key=<redacted:api_key> rest") << wanted;
  }
}

}  // namespace
}  // namespace teller
