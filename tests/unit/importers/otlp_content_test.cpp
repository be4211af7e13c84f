#include "importers/otlp_content.h"

#include <gtest/gtest.h>

#include "importers/otlp_values.h"

namespace teller {
namespace {

using Json = nlohmann::ordered_json;

TEST(OtlpContent, KeysOfContent) {
  for (const char* key : {"gen_ai.prompt",
                          "gen_ai.prompt.0.role",
                          "llm.prompts.0.content",
                          "my.prompt",
                          "userPrompt",
                          "chat-history",
                          "Request.Body",
                          "http.request.header.accept",
                          "a.input",
                          "llmOutput",
                          "x.messages.3",
                          "final_answer",
                          "retrieval.documents.0.score",
                          "response_text",
                          "x.user_query",
                          "user_message",
                          "tool.parameters",
                          "searchQueries",
                          "system",
                          "a.questions",
                          "llm.assistant-message",
                          "invocation_parameters"}) {
    EXPECT_TRUE(is_content_key(key)) << key;
  }
  for (const char* key :
       {"", "0", "gen_ai.usage.prompt_tokens", "gen_ai.request.model", "exception.message",
        "http.response.status_code", "content_length", "gen_ai.output.type", "input_tokens",
        "prompt_name", "net.peer.name", "messaging.system", "service.name", "gen_ai.system",
        "system.cpu.time", "message", "error_message"}) {
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

TEST(OtlpContent, KeysAreTextsToo) {
  OtlpContent content;
  const std::string token = "hf_aB3aB3aB3aB3aB3aB3aB3aB3aB3aB3aB3";
  Json value = Json::object();
  value["a"] = 1;
  value["k " + token] = 2;
  value["k " + token + "x"] = 3;  // the same once it is clean
  value["m"] = Json::array({{{"key", token}, {"value", {{"intValue", "4"}}}}});
  content.clean(value);
  EXPECT_EQ(value.dump().find("aB3"), std::string::npos) << value.dump();
  EXPECT_EQ(value["a"], 1);
  EXPECT_EQ(value["k <redacted:hf_token>"], 2);
  EXPECT_EQ(value["k <redacted:hf_token>_"], 3);
  EXPECT_EQ(value["m"][0]["key"], "<redacted:hf_token>");
  EXPECT_EQ(content.secrets().total(), 3U);
}

TEST(OtlpValues, WhatIsPassedOverIsCounted) {
  const auto attributes = [](std::vector<std::pair<std::string, int>> pairs) {
    Json list = Json::array();
    for (const auto& [key, value] : pairs) {
      list.push_back({{"key", key}, {"value", {{"intValue", value}}}});
    }
    return otlp_attributes({{"attributes", std::move(list)}});
  };
  EXPECT_EQ(attributes({{"a", 1}, {"b", 2}}), Json::parse(R"({"a": 1, "b": 2})"));
  EXPECT_EQ(attributes({{"a", 1}, {"a", 2}, {"left_out", 7}, {"", 3}}),
            Json::parse(R"({"a": 2, "left_out": 7, "left_out_": 2})"));
  EXPECT_EQ(attributes(std::vector<std::pair<std::string, int>>(1500, {"a", 5})),
            Json::parse(R"({"a": 5, "left_out": 1499})"));
  std::vector<std::pair<std::string, int>> many;
  for (int i = 0; i < 1500; ++i) many.emplace_back("k" + std::to_string(i), i);
  EXPECT_EQ(attributes(many)["left_out"], 1500 - 1024);
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
