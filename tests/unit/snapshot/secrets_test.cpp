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

TEST(Secrets, APromptThatSpansLines) {
  const auto kept = redact_lines(
      {R"(prompt: 'first of mine)", "", "second of mine", "third' end", "step 7 took 3 ms"});
  ASSERT_EQ(kept.size(), 5u);
  for (const std::string& line : kept) EXPECT_EQ(line.find("mine"), std::string::npos) << line;
  EXPECT_TRUE(kept[3].ends_with(" end")) << kept[3];
  EXPECT_EQ(kept[3].find("third"), std::string::npos) << kept[3];
  EXPECT_EQ(kept[4], "step 7 took 3 ms");
}

}  // namespace
}  // namespace teller::snapshot_detail
