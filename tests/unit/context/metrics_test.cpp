// The exposition format of Prometheus, as engines write it and as nobody should.
#include "context/metrics.h"

#include <gtest/gtest.h>

namespace teller {
namespace {

TEST(Metrics, KeepsWhatTellsHowAnEngineDoes) {
  const ContextRecord record = read_metrics(
      "# HELP vllm:num_requests_running Number of requests.\n"
      "# TYPE vllm:num_requests_running gauge\n"
      "vllm:num_requests_running{engine=\"0\",model_name=\"m}x\"} 3.0\n"
      "vllm:num_requests_waiting_by_reason{reason=\"capacity\"} 2\n"
      "vllm:kv_cache_usage_perc{engine=\"0\"} 0.25 1700000000000\n"
      "vllm:prompt_tokens_total 1e3\r\n"
      "vllm:e2e_request_latency_seconds_bucket{le=\"+Inf\"} 7\n"
      "python_info{version=\"3.11\"} 1\n",
      false);
  EXPECT_EQ(record.dump(),
            R"({"engine":"vllm","series":{)"
            R"("vllm:num_requests_running{engine=\"0\",model_name=\"m}x\"}":3.0,)"
            R"("vllm:num_requests_waiting_by_reason{reason=\"capacity\"}":2.0,)"
            R"("vllm:kv_cache_usage_perc{engine=\"0\"}":0.25,"vllm:prompt_tokens_total":1000.0},)"
            R"("other_series":2})");
}

TEST(Metrics, KnowsSglangsNames) {
  const ContextRecord record = read_metrics(
      "sglang:num_queue_reqs{tp_rank=\"0\"} 4\nsglang:token_usage 0.5\nsglang:x 1\n", false);
  EXPECT_EQ(record["engine"], "sglang");
  EXPECT_EQ(record["series"].size(), 2u);
  EXPECT_EQ(record["other_series"], 1);
}

TEST(Metrics, AllSeriesOnRequest) {
  const ContextRecord record = read_metrics("a 1\nb{x=\"y\"} NaN\nc +Inf\n", true);
  EXPECT_EQ(record["series"].dump(), R"({"a":1.0,"b{x=\"y\"}":null,"c":null})");
}

TEST(Metrics, NonsenseIsCounted) {
  const ContextRecord record =
      read_metrics("a\n{x=\"1\"} 2\nb{x=\"1} 2\nc two\nd 1x\n<html>\n\n#\n", true);
  EXPECT_EQ(record["broken_lines"], 6);
  EXPECT_TRUE(record["series"].empty());
}

TEST(Metrics, NamesAndNumbersAreBounded) {
  std::string text = std::string(2000, 'n') + " 1\n";
  for (int i = 0; i < 5000; ++i) text += "s" + std::to_string(i) + " 1\n";
  const ContextRecord record = read_metrics(text, true);
  EXPECT_EQ(record["series"].size(), 4096u);
  EXPECT_EQ(record["other_series"], 5001 - 4096);
}

}  // namespace
}  // namespace teller
