#include "snapshot/secrets.h"

#include <gtest/gtest.h>

namespace teller::snapshot_detail {
namespace {

TEST(Secrets, NamesByTheirWords) {
  for (const char* name : {"--api-key", "HF_TOKEN", "dbPassword", "aws_secret_access_key", "AUTH"})
    EXPECT_TRUE(is_secret_name(name)) << name;
  for (const char* name : {"--tokenizer", "--max-tokens", "monkey", "keyboard", "--author", ""})
    EXPECT_FALSE(is_secret_name(name)) << name;
}

TEST(Secrets, ValuesInText) {
  EXPECT_EQ(redact("token=abc next"), "token=[redacted] next");
  EXPECT_EQ(redact(R"({"password": "a b", "user": "me"})"),
            R"({"password": [redacted], "user": "me"})");
  EXPECT_EQ(redact("Authorization: Basic dXNlcjpw end"), "Authorization: [redacted] end");
  EXPECT_EQ(redact("get http://me:pw@host/x"), "get http://me:[redacted]@host/x");
  EXPECT_EQ(redact("with hf_abcdefghij here"), "with [redacted] here");
  EXPECT_EQ(redact("sh -c 'run --api-key abc --port 1'"),
            "sh -c 'run --api-key [redacted] --port 1'");
}

TEST(Secrets, OrdinaryTextIsKept) {
  for (const char* text : {"step 7 took 3 ms: 512 tokens", "the key to success is work",
                           "max_tokens=77 tokenizer=bert", "http://host:8000/a?b=c", "a\tb", ""})
    EXPECT_EQ(redact(text), text);
}

TEST(Secrets, ArgumentsThatFollowTheirOption) {
  const std::vector<std::string> given = {"serve", "--token", "a=b c", "--port",
                                          "1",     "--key",   "--x"};
  const std::vector<std::string> kept = {"serve", "--token", "[redacted]", "--port",
                                         "1",     "--key",   "--x"};
  EXPECT_EQ(redact_arguments(given), kept);
}

TEST(Secrets, LongTextsAreDoneInPieces) {
  const std::string filler(10000, 'x');
  EXPECT_EQ(redact(filler + " token=abc"), filler + " token=[redacted]");
}

}  // namespace
}  // namespace teller::snapshot_detail
