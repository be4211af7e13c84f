#include "importers/otlp_content.h"

#include <gtest/gtest.h>

namespace teller {
namespace {

using Json = nlohmann::ordered_json;

TEST(OtlpContent, KeysOfContent) {
  for (const char* key :
       {"gen_ai.prompt", "gen_ai.prompt.0.role", "llm.prompts.0.content", "my.prompt", "userPrompt",
        "chat-history", "Request.Body", "http.request.header.accept", "a.input", "llmOutput",
        "x.messages.3", "final_answer", "retrieval.documents.0.score", "response_text"}) {
    EXPECT_TRUE(is_content_key(key)) << key;
  }
  for (const char* key :
       {"", "0", "gen_ai.usage.prompt_tokens", "gen_ai.request.model", "exception.message",
        "http.response.status_code", "content_length", "gen_ai.output.type", "input_tokens",
        "prompt_name", "net.peer.name", "messaging.system", "service.name"}) {
    EXPECT_FALSE(is_content_key(key)) << key;
  }
}

TEST(OtlpContent, CountsWhatItLeavesOut) {
  OtlpContent content;
  Json value = Json::parse(R"({"a": {"prompt": "p", "n": 3, "deep": [{"chatHistory": ["x"]}]},
      "prompt": 7, "apiKey": "k", "token": "abc", "auth": "a1b2c3d4e5", "password": null})");
  content.clean(value);
  EXPECT_EQ(value["a"]["prompt"], "<left out: 3 bytes>");
  EXPECT_EQ(value["a"]["deep"][0]["chatHistory"], "<left out: 5 bytes>");
  EXPECT_EQ(value["a"]["n"], 3);
  EXPECT_EQ(value["prompt"], 7);
  EXPECT_EQ(value["apiKey"], "<redacted:api_key>");
  EXPECT_EQ(value["token"], "abc");  // a word of a vocabulary
  EXPECT_EQ(value["auth"], "<redacted:api_key>");
  EXPECT_EQ(value["password"], nullptr);
  EXPECT_EQ(content.left_out(), 2U);
  EXPECT_EQ(content.secrets().total(), 2U);
}

TEST(OtlpContent, PairsAsTheProtocolWritesThem) {
  OtlpContent content;
  Json value = Json::parse(R"([{"key": "my.prompt", "value": {"string_value": "p"}},
      {"key": "a.body.size", "value": {"intValue": "3"}}])");
  content.clean(value);
  EXPECT_EQ(value[0]["value"], "<left out: 3 bytes>");
  EXPECT_EQ(value[1]["value"], 3);
}

}  // namespace
}  // namespace teller
