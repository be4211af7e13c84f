// What a span says of the request that an inference engine served in it.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

namespace teller {

// Times are Unix nanoseconds; -1 where the span does not tell.
struct OtlpRequest {
  std::string id;  // "": the span is not about one request
  std::int64_t queued_ns = -1;
  std::int64_t scheduled_ns = -1;  // first given tokens
  std::int64_t first_token_ns = -1;
  std::int64_t last_token_ns = -1;
  std::int64_t prompt_tokens = -1;
  std::int64_t completion_tokens = -1;

  // As attrs of the span's event (docs/import.md).
  nlohmann::ordered_json to_json() const;
};

// `attributes` as otlp_attributes() gives them. The engine states durations (gen_ai.latency.*, in
// seconds); times follow from them and the span's begin, when the request arrived. None lies
// outside of the span.
OtlpRequest read_otlp_request(const nlohmann::ordered_json& attributes, std::int64_t begin_ns,
                              std::int64_t end_ns);

}  // namespace teller
