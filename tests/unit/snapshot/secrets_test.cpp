#include "snapshot/secrets.h"

#include <gtest/gtest.h>

#include <utility>

namespace teller::snapshot_detail {
namespace {

TEST(Secrets, AreNotInWhatIsKept) {
  const std::pair<const char*, const char*> cases[] = {
      {"api_key=abc123 next", "abc123"},
      {R"({"password": "a1 b2", "user": "me"})", "a1 b2"},
      {"Authorization: Basic dXNlcjpw end", "dXNlcjpw"},
      {"get http://me:pw123@host/x", "pw123"},
      {"with hf_abcdefghijKLMNOP here", "hf_abcdefghijKLMNOP"},
      {"sh -c 'run --api-key abc123 --port 1'", "abc123"},
  };
  for (const auto& [text, secret] : cases) {
    const std::string kept = redact(text);
    EXPECT_EQ(kept.find(secret), std::string::npos) << kept;
    EXPECT_NE(kept.find("<redacted:"), std::string::npos) << kept;
  }
}

TEST(Secrets, OrdinaryTextIsKept) {
  for (const char* text : {"step 7 took 3 ms: 512 tokens", "the key to success is work",
                           "max_tokens=77 tokenizer=bert", "http://host:8000/a?b=c", "a\tb", ""})
    EXPECT_EQ(redact(text), text);
}

TEST(Secrets, ArgumentsThatFollowTheirOption) {
  const auto kept = redact_arguments({"serve", "--hf-token", "a=b c", "--port", "1"});
  ASSERT_EQ(kept.size(), 5u);
  EXPECT_TRUE(kept[2].starts_with("<redacted:")) << kept[2];
  EXPECT_EQ(kept[4], "1");
}

}  // namespace
}  // namespace teller::snapshot_detail
