// What is found as a secret, and what is not.
#include "redact/redact.h"

#include <gtest/gtest.h>

namespace teller {
namespace {

struct Case {
  const char* text;
  const char* kept;
};

std::string redacted(std::string_view text, const RedactOptions& options = {}) {
  RedactCounts counts;
  return Redactor::create(options).value().text(text, counts);
}

const Case kCases[] = {
    {"token hf_abcdefghijABCDEFGHIJ0123456789abcd used", "token <redacted:hf_token> used"},
    {"key sk-proj-abc123DEF456_x.", "key <redacted:api_key>"},
    {"AKIAIOSFODNN7EXAMPLE", "<redacted:aws_key>"},
    {"aws_secret_access_key = wJalrXUtnFEMI/K7MDENG", "aws_secret_access_key = <redacted:aws_key>"},
    {"Authorization: Bearer abc.def-1", "Authorization: Bearer <redacted:bearer>"},
    {"{'Authorization': 'Basic dXNlcjpwYXNz'}", "{'Authorization': 'Basic <redacted:bearer>'}"},
    {"x Bearer abcdef123", "x Bearer <redacted:bearer>"},
    {"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln", "<redacted:bearer>"},
    {"redis://user:p4ss@w0rd@host:6379/0", "redis://user:<redacted:password>@host:6379/0"},
    {"http://host:8000/metrics", "http://host:8000/metrics"},
    {"GET /v1?token=abc&n=1&key=def HTTP/1.1",
     "GET /v1?token=<redacted:api_key>&n=1&key=<redacted:api_key> HTTP/1.1"},
    {"'api_key': ['k1', 'k2'], 'port': 8000", "'api_key': <redacted:api_key>, 'port': 8000"},
    {"api_key=None, password: ''", "api_key=None, password: ''"},
    {"OPENAI_API_KEY=abc HF_TOKEN=def",
     "OPENAI_API_KEY=<redacted:api_key> HF_TOKEN=<redacted:hf_token>"},
    {"client = OpenAI(api_key=\"topsecret\")", "client = OpenAI(api_key=<redacted:api_key>)"},
    {"vllm serve m --api-key abc --port 1", "vllm serve m --api-key <redacted:api_key> --port 1"},
    {"Received request cmpl-1-0: prompt: 'It\\'s me', params: SamplingParams(n=1), "
     "prompt_token_ids: [1, 2, 3], lora_request: None.",
     "Received request cmpl-1-0: prompt: <redacted:prompt>, params: SamplingParams(n=1), "
     "prompt_token_ids: <redacted:token_ids>, lora_request: None."},
    {"prompt: \"don't\", params", "prompt: <redacted:prompt>, params"},
    {"obj=GenerateReqInput(rid='r1', text=['a]', \"b\"], input_ids=[[1], [2]], stream=True)",
     "obj=GenerateReqInput(rid='r1', text=<redacted:prompt>, input_ids=<redacted:token_ids>, "
     "stream=True)"},
    {"{\"messages\": [{\"role\": \"user\", \"content\": \"hi [\"}], \"n\": 1}",
     "{\"messages\": <redacted:prompt>, \"n\": 1}"},
    {R"({"message": "x prompt: \"say \\\"hi\\\"\", params"})",
     R"({"message": "x prompt: <redacted:prompt>, params"})"},
    {"prompt: None, prompts processed", "prompt: None, prompts processed"},
    // What engines print all the time.
    {"Decode batch. #running-req: 36, #token: 1920, token usage: 0.94, #queue-req: 5, ",
     "Decode batch. #running-req: 36, #token: 1920, token usage: 0.94, #queue-req: 5, "},
    {"max_tokens=16, eos_token_id: 2, MAX_TOKENS=5, num_keys=3, key: value",
     "max_tokens=16, eos_token_id: 2, MAX_TOKENS=5, num_keys=3, key: value"},
    {"Avg prompt throughput: 1.0 tokens/s, Running: 3 reqs",
     "Avg prompt throughput: 1.0 tokens/s, Running: 3 reqs"},
    {"sk-learn hf_config_overrides task-sk-1", "sk-learn hf_config_overrides task-sk-1"},
    {"", ""},
};

TEST(Redactor, FindsSecretsAndPrompts) {
  for (const Case& c : kCases) EXPECT_EQ(redacted(c.text), c.kept);
}

TEST(Redactor, CanBeOff) {
  RedactOptions off;
  off.on = false;
  off.patterns = {"x"};
  EXPECT_EQ(redacted("api_key=abc x", off), "api_key=abc x");
}

TEST(Redactor, TakesPatternsOfUsers) {
  RedactOptions options;
  options.patterns = {"cust-[0-9]+", "\\bproject \\w+"};
  EXPECT_EQ(redacted("cust-12 of project zeus, api_key=cust-99", options),
            "<redacted:pattern> of <redacted:pattern>, api_key=<redacted:api_key>");
  for (const char* bad : {"(", "a*", "", "(?=x)"}) {
    const auto refused = Redactor::create({true, {bad}});
    ASSERT_FALSE(refused) << bad;
    EXPECT_EQ(refused.error().code, ErrorCode::kUsage);
    EXPECT_NE(refused.error().message.find("--redact-pattern"), std::string::npos);
  }
}

TEST(Redactor, CountsByKind) {
  RedactCounts counts;
  const Redactor rules = std::move(Redactor::create({}).value());
  rules.text("api_key=a1 password=b2 api_key=c3", counts);
  EXPECT_EQ(counts.of(SecretKind::kApiKey), 2u);
  EXPECT_EQ(counts.of(SecretKind::kPassword), 1u);
  EXPECT_EQ(counts.total(), 3u);
}

TEST(Redactor, ArgumentsBehindSecretOptions) {
  RedactCounts counts;
  const Redactor rules = std::move(Redactor::create({}).value());
  using Arguments = std::vector<std::string>;
  EXPECT_EQ(
      rules.arguments({"vllm", "serve", "m", "--api-key", "k1", "k2", "--port", "8000",
                       "--hf-token=t", "--tokenizer", "x", "HF_TOKEN=y", "--token", "z"},
                      counts),
      (Arguments{"vllm", "serve", "m", "--api-key", "<redacted:api_key>", "<redacted:api_key>",
                 "--port", "8000", "--hf-token=<redacted:hf_token>", "--tokenizer", "x",
                 "HF_TOKEN=<redacted:hf_token>", "--token", "<redacted:api_key>"}));
  EXPECT_EQ(counts.total(), 5u);
}

TEST(Redactor, LongTextsAreReadOnceOver) {
  for (const char* unit :
       {"api_key=", "://a:", "prompt: '", "[", "\\", "Bearer ", "hf_", "\x1b[", "\x1b[0m",
        "input: [", "password=a(", "Authorization: ", "-----BEGIN ", "prompt='''", "https://a@",
        "token: ", "api_key=\x1b[0m", "password: \"m\x1b[0m"}) {
    std::string text;
    while (text.size() < (2u << 20)) text += unit;
    EXPECT_LE(redacted(text).size(), text.size() * 4);
  }
}

}  // namespace
}  // namespace teller
