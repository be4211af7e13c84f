#include "importers/otlp_request.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <optional>

namespace teller {

using Json = nlohmann::ordered_json;

namespace {

// Longer ones are no latency of a request, but damage.
constexpr double kMostSeconds = 1e7;
// Behind this time (2223) such a duration could overflow.
constexpr std::int64_t kLatestNs = 8'000'000'000'000'000'000;

std::optional<std::int64_t> duration_ns(const Json& attributes, const char* key) {
  const auto found = attributes.find(key);
  if (found == attributes.end() || !found->is_number()) return std::nullopt;
  const double seconds = found->get<double>();
  if (!(seconds >= 0 && seconds <= kMostSeconds)) return std::nullopt;
  return std::llround(seconds * 1e9);
}

std::int64_t count_of(const Json& attributes, std::initializer_list<const char*> keys) {
  for (const char* key : keys) {
    const auto found = attributes.find(key);
    if (found == attributes.end() || !found->is_number_integer()) continue;
    const auto count = found->get<std::int64_t>();
    if (count >= 0 && count < std::int64_t{1} << 48) return count;
  }
  return -1;
}

// SGLang calls it "rid". An id with blanks in it can't stand in a range's name.
std::string id_of(const Json& attributes) {
  for (const char* key : {"gen_ai.request.id", "rid"}) {
    const auto found = attributes.find(key);
    if (found == attributes.end() || !found->is_string()) continue;
    std::string id = found->get<std::string>();
    if (!id.empty() && id.find_first_of(" \t\r\n") == std::string::npos) return id;
  }
  return "";
}

void add(Json& json, const char* key, std::int64_t value) {
  if (value >= 0) json[key] = value;
}

}  // namespace

Json OtlpRequest::to_json() const {
  Json json = {{"id", id}};
  add(json, "queued_ns", queued_ns);
  add(json, "scheduled_ns", scheduled_ns);
  add(json, "first_token_ns", first_token_ns);
  add(json, "last_token_ns", last_token_ns);
  add(json, "prompt_tokens", prompt_tokens);
  add(json, "completion_tokens", completion_tokens);
  return json;
}

OtlpRequest read_otlp_request(const Json& attributes, std::int64_t begin_ns, std::int64_t end_ns) {
  OtlpRequest request;
  request.id = id_of(attributes);
  if (request.id.empty()) return request;
  request.prompt_tokens =
      count_of(attributes, {"gen_ai.usage.prompt_tokens", "gen_ai.usage.input_tokens"});
  request.completion_tokens =
      count_of(attributes, {"gen_ai.usage.completion_tokens", "gen_ai.usage.output_tokens"});
  if (begin_ns > kLatestNs) return request;
  const auto queue = duration_ns(attributes, "gen_ai.latency.time_in_queue");
  const auto first = duration_ns(attributes, "gen_ai.latency.time_to_first_token");
  const auto prefill = duration_ns(attributes, "gen_ai.latency.time_in_model_prefill");
  const auto decode = duration_ns(attributes, "gen_ai.latency.time_in_model_decode");
  const auto inside = [&](std::int64_t time) { return std::clamp(time, begin_ns, end_ns); };
  if (first) request.first_token_ns = inside(begin_ns + *first);
  if (first && prefill) {
    request.scheduled_ns = inside(request.first_token_ns - *prefill);
  } else if (queue) {
    request.scheduled_ns = inside(begin_ns + *queue);
  }
  if (queue && request.scheduled_ns >= 0) {
    request.queued_ns = inside(request.scheduled_ns - *queue);
  }
  if (request.first_token_ns < 0 && prefill && request.scheduled_ns >= 0) {
    request.first_token_ns = inside(request.scheduled_ns + *prefill);
  }
  if (request.first_token_ns >= 0 && decode) {
    request.last_token_ns = inside(request.first_token_ns + *decode);
  }
  return request;
}

}  // namespace teller
