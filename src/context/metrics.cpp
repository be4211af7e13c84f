#include "context/metrics.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>

#include "context/small_file.h"

namespace teller {

namespace {

using Json = ContextRecord;

constexpr std::size_t kMaxSeries = 4096;
constexpr std::size_t kMaxName = 1024;

// What tells how an engine does: requests running and waiting, the KV cache, preemptions, tokens.
constexpr std::string_view kKept[] = {"vllm:num_requests_running",
                                      "vllm:num_requests_waiting",
                                      "vllm:num_requests_swapped",
                                      "vllm:num_requests_waiting_by_reason",
                                      "vllm:kv_cache_usage_perc",
                                      "vllm:gpu_cache_usage_perc",
                                      "vllm:cpu_cache_usage_perc",
                                      "vllm:num_preemptions_total",
                                      "vllm:num_preemptions",
                                      "vllm:prompt_tokens_total",
                                      "vllm:generation_tokens_total",
                                      "vllm:request_success_total",
                                      "sglang:num_running_reqs",
                                      "sglang:num_queue_reqs",
                                      "sglang:num_grammar_queue_reqs",
                                      "sglang:num_retracted_reqs",
                                      "sglang:num_paused_reqs",
                                      "sglang:num_used_tokens",
                                      "sglang:token_usage",
                                      "sglang:gen_throughput",
                                      "sglang:cache_hit_rate",
                                      "sglang:prompt_tokens_total",
                                      "sglang:generation_tokens_total",
                                      "sglang:num_requests_total",
                                      "sglang:num_aborted_requests_total"};

bool is_kept(std::string_view name) {
  return std::find(std::begin(kKept), std::end(kKept), name) != std::end(kKept);
}

// The end of "{a="b",…}" at the front of `text`; npos if it has none. Braces may stand in values.
std::size_t labels_end(std::string_view text) {
  bool quoted = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (quoted && text[at] == '\\') {
      ++at;
    } else if (text[at] == '"') {
      quoted = !quoted;
    } else if (!quoted && text[at] == '}') {
      return at + 1;
    }
  }
  return std::string_view::npos;
}

struct Series {
  std::string_view name;
  std::string_view whole;  // with labels
  double value = 0;
};

bool read_series(std::string_view line, Series& series) {
  const std::size_t name_end = line.find_first_of("{ \t");
  if (name_end == 0 || name_end == std::string_view::npos) return false;
  series.name = line.substr(0, name_end);
  std::size_t end = name_end;
  if (line[name_end] == '{') {
    const std::size_t size = labels_end(line.substr(name_end));
    if (size == std::string_view::npos) return false;
    end = name_end + size;
  }
  series.whole = line.substr(0, end);
  std::string_view rest = line.substr(end);
  std::string_view value = take_word(rest);
  if (value == "NaN" || value == "+Inf" || value == "-Inf" || value == "Inf") {
    series.value = NAN;
    return true;
  }
  if (value.starts_with("+")) value.remove_prefix(1);
  const auto result = std::from_chars(value.data(), value.data() + value.size(), series.value);
  return !value.empty() && result.ec == std::errc() && result.ptr == value.data() + value.size();
}

}  // namespace

ContextRecord read_metrics(std::string_view text, bool all_series) {
  Json kept = Json::object();
  std::string engine;
  std::uint64_t others = 0;
  std::uint64_t broken = 0;
  while (!text.empty()) {
    std::string_view line = take_line(text);
    if (line.ends_with("\r")) line.remove_suffix(1);
    if (line.empty() || line.front() == '#') continue;
    Series series;
    if (!read_series(line, series)) {
      ++broken;
      continue;
    }
    if (engine.empty() && series.name.starts_with("vllm:")) engine = "vllm";
    if (engine.empty() && series.name.starts_with("sglang:")) engine = "sglang";
    const bool wanted = all_series || is_kept(series.name);
    if (!wanted || series.whole.size() > kMaxName || kept.size() >= kMaxSeries) {
      ++others;
      continue;
    }
    kept[std::string(series.whole)] = std::isfinite(series.value) ? Json(series.value) : Json();
  }
  Json json = {{"engine", engine}, {"series", std::move(kept)}, {"other_series", others}};
  if (broken > 0) json["broken_lines"] = broken;
  return json;
}

}  // namespace teller
