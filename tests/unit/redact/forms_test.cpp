// The forms in which programs print secrets. X9 to the end of the word must vanish, whatever else
// does; what engines print all the time must stay whole.
#include <gtest/gtest.h>

#include "redact/redact.h"

namespace teller {
namespace {

constexpr std::string_view kValue = "X9secret8Value7q";

class FormsTest : public testing::Test {
 protected:
  std::string redacted(const std::string& text) { return rules_.text(text, counts_); }
  std::vector<std::string> arguments(const std::vector<std::string>& argv) {
    return rules_.arguments(argv, counts_);
  }
  RedactCounts counts_;
  Redactor rules_ = std::move(Redactor::create({}).value());
};

// "@" in each stands for the value.
constexpr const char* kForms[] = {
    // Colours.
    "\x1b[36mapi_key\x1b[0m=\x1b[35m@\x1b[0m",
    "api_key=\x1b[1m@",
    "api_key=ab\x1b[1m@ rest",
    "'api_key'\x1b[0m: \x1b[32m'@'\x1b[0m",
    "\x1b[1mBearer\x1b[0m \x1b[32m@",
    "\x1b[36m--api-key\x1b[0m \x1b[35m@",
    "api_keys=[\x1b[1m'a', '@']",
    // Signs inside a value.
    "password=ab;@",
    "password=ab,@",
    "password=ab&@",
    "password=ab(@",
    "password=ab)@ rest",
    "db_password: ab|@",
    "'dsn': 'user=u password=ab;@'",
    "GET /?password=ab;@&n=1",
    // Names of several parts.
    "PGPASSWORD=@",
    "MYSQL_PWD=@",
    "openaiApiKey: @",
    "appSecret=@",
    "\"hfToken\": \"@\"",
    "master_key: @",
    "'CIVITAI_TOKEN': '@'",
    "MY_TOKEN: @",
    "X-Amz-Signature=@&X-Amz-Date=1",
    "&X-Amz-Security-Token=@",
    "a_name_that_is_longer_than_any_name_has_a_reason_to_be_in_any_program_api_key=@",
    "token=@",
    "token: @",
    "\"token\": \"@\"",
    // Headers.
    "Authorization: token @",
    "authorization: BEARER @",
    "Authorization: apikey @",
    "Authorization: Splunk @",
    "Authorization: Unknown @",
    "Authorization: ab;@",
    "BEARER @",
    "Bearer ab/cd+e@==",
    "Authorization=Digest username=\"u\", realm=\"r\", response=\"@\"",
    "'Authorization': 'Digest username=\"u\", response=\"@\"', 'n': 1",
    "{\\\"Authorization\\\": \\\"Basic @\\\"}",
    "('Authorization', 'Basic @')",
    "(b'x-api-key', b'@')",
    "['--api-key', '@']",
    "['serve', '--wandb-token', '@']",
    "Cookie: session=1; id=@",
    "Set-Cookie: id=@; Path=/",
    "{'Cookie': 'id=@'}",
    // Python.
    "api_key=Secret('@')",
    "password=SecretStr(value='@')",
    "api_key: str = '@'",
    "api_key: Optional[str] = \"@\"",
    "api_key=f'@'",
    "api_key=rb'@'",
    "api_key='''a'b @'''",
    // Prompts.
    "prompt='''@'''",
    "prompt=\"\"\"a \"b\" @\"\"\"",
    "system_prompt='@'",
    "{\"input\": \"@\"}",
    "inputs: ['@']",
    "{\"inputs\": \"@\"}",
    "{\"query\": \"@\", \"documents\": [\"a\"]}",
    "{\"documents\": [\"a\", \"@\"]}",
    // Addresses.
    "https://@@host/path",
    "https://@:@host/path",
    "https://@:x-oauth-basic@host/path",
    "postgres://u:a/@@h/db",
    "postgres://u:a#?@@h/db",
    // Blocks.
    "-----BEGIN PRIVATE KEY-----\n@\n-----END PRIVATE KEY-----",
    "key: \"-----BEGIN EC PRIVATE KEY-----\\n@\\n-----END EC PRIVATE KEY-----\"",
    "api_key='a\n@'",
    // Variables of an environment.
    "VLLM_X=--password=a @",
    "VLLM_X=api_key=a;@",
};

TEST_F(FormsTest, NothingOfTheValueIsLeft) {
  for (const std::string_view form : kForms) {
    std::string text(form);
    text.replace(text.find('@'), 1, kValue);
    const std::uint64_t before = counts_.total();
    const std::string kept = redacted(text);
    EXPECT_EQ(kept.find("X9"), std::string::npos) << kept;
    EXPECT_EQ(kept.find(kValue.substr(8)), std::string::npos) << kept;
    EXPECT_GT(counts_.total(), before) << kept;
  }
}

TEST_F(FormsTest, TokensAreKnownByTheirFronts) {
  const std::string rest = "0123456789abcdefABCDEF0123456789abcd";
  for (const std::string front : {"gho_", "ghs_", "ghu_", "ghp_", "github_pat_", "glpat-", "xoxb-",
                                  "AIza", "gsk_", "r8_", "hf_", "nvapi-", "sk-"}) {
    EXPECT_EQ(redacted("x " + front + rest + " y").find(rest), std::string::npos) << front;
  }
}

TEST_F(FormsTest, OnlyTheValueGoes) {
  EXPECT_EQ(redacted("\x1b[36mapi_key\x1b[0m=\x1b[35mX rest"),
            "\x1b[36mapi_key\x1b[0m=\x1b[35m<redacted:api_key> rest");
  EXPECT_EQ(redacted("?password=a;X&n=1"), "?password=<redacted:password>&n=1");
  EXPECT_EQ(redacted("('Authorization', 'Basic X'), n"),
            "('Authorization', 'Basic <redacted:bearer>'), n");
  EXPECT_EQ(redacted("Authorization: token X rest"), "Authorization: token <redacted:bearer> rest");
  EXPECT_EQ(redacted("prompt='''a'b''', n=1"), "prompt=<redacted:prompt>, n=1");
  EXPECT_EQ(redacted("api_key=Secret('X'), n=1"), "api_key=<redacted:api_key>, n=1");
  EXPECT_EQ(redacted("postgres://u:a/X@h/db"), "postgres://u:<redacted:password>@h/db");
}

constexpr const char* kOrdinary[] = {
    "max_tokens=77 tokenizer=bert",
    "#token: 1920, token usage: 0.94",
    "eos_token='</s>', pad_token=<|reserved_special_token_128|>",
    "\"key to success\"",
    "token: 12345678, time per token: 12345.678ms, per_token=1.25e-05",
    "IMAGE_TOKEN: placeholder1, MAX_TOKEN=5, HASH_KEY: 77",
    "input: [16, 3, 224], inputs: (1, 2), query: [1, 32, 128], documents: 5",
    "Expected input: tensor([1]) and query=(q, k)",
    "password=None, port=8000",
    "SamplingParams(n=1, temperature=0.7, top_p=1.0, seed=None), tokens: [1, 2]",
    "http://host:8000/path@v1?mail=a@b",
    "tcp://[::1]:29500/x@y",
    "ssh://git@host/repo",
    "git+https://host/org/repo@main",
    "forward_pass: 3.2ms, auth: on, pass=3",
    "-----BEGIN CERTIFICATE-----",
    "\x1b[36m(EngineCore pid=1)\x1b[0m INFO ready",
    "--tokenizer-mode auto --max-num-batched-tokens 8192 --eos-token </s>",
};

TEST_F(FormsTest, OrdinaryLinesStayWhole) {
  for (const char* line : kOrdinary) EXPECT_EQ(redacted(line), line);
  EXPECT_EQ(counts_.total(), 0u);
}

TEST_F(FormsTest, AnArgumentIsOneValue) {
  using Arguments = std::vector<std::string>;
  const Arguments forms[] = {{"--password=abc;@"},     {"--password=x @"},
                             {"--api.key=x,@"},        {"--foo-token", "@"},
                             {"--slack-token", "@"},   {"--token=", "@"},
                             {"--api-key", "-@"},      {"--password", "", "@"},
                             {"--wandb-key", "@"},     {"--pass", "@"},
                             {"--pwd", "@"},           {"--auth", "@"},
                             {"-u", "user:@"},         {"--user=user:@"},
                             {"--api.key", "@"},       {"--hf-token", "--@"},
                             {"PGPASSWORD=a b;@"},     {"MY_TOKEN=a @"},
                             {"-H", "x-api-key: a;@"}, {"-H", "Authorization: Basic a @"},
                             {"--apiKey", "@"},        {"+model.api_key=a,@"}};
  for (const Arguments& form : forms) {
    Arguments argv = form;
    std::string& last = argv.back();
    last.replace(last.find('@'), 1, kValue);
    const Arguments kept = arguments(argv);
    ASSERT_EQ(kept.size(), argv.size());
    EXPECT_EQ(kept.back().find(kValue), std::string::npos) << kept.back();
    EXPECT_NE(kept.back().find("<redacted:"), std::string::npos) << kept.back();
  }
}

TEST_F(FormsTest, OrdinaryArgumentsStayWhole) {
  const std::vector<std::string> argv = {"python",
                                         "-u",
                                         "train.py",
                                         "--eos-token",
                                         "</s>",
                                         "--input-key",
                                         "question",
                                         "--api-key",
                                         "--port",
                                         "8000",
                                         "--tokenizer",
                                         "bert",
                                         "-u",
                                         "1000:1000",
                                         "--max-tokens",
                                         "77",
                                         "--password=",
                                         "--host",
                                         "http://h:1",
                                         "--prompt",
                                         "data.prompt_key=prompt",
                                         "data.reward_fn_key=source"};
  EXPECT_EQ(arguments(argv), argv);
}

}  // namespace
}  // namespace teller
