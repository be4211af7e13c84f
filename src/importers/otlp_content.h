// Keeps what users wrote, what they were answered and secrets out of what is stored of
// OpenTelemetry's records: by the names of their keys, wherever they stand, and by what texts hold.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "redact/redact.h"

namespace teller {

// Whether the attribute `key` holds prompts, answers, documents, bodies or headers, by the
// conventions of OpenTelemetry, OpenInference and OpenLLMetry, and by the words that others use for
// them, in any spelling ("llm.input_messages", "chatHistory", "request-body").
bool is_content_key(std::string_view key);

class OtlpContent {
 public:
  OtlpContent();

  // `value` without content and secrets, at any depth: members are told by their keys, also where
  // they stand as {"key": …, "value": …}.
  void clean(nlohmann::ordered_json& value);
  // The same of one text.
  std::string text(std::string_view text);

  // Values of content that were left out.
  std::uint64_t left_out() const { return left_out_; }
  const RedactCounts& secrets() const { return secrets_; }

 private:
  using Json = nlohmann::ordered_json;
  void member(std::string_view key, Json& value);
  void clean_keys(Json& object);
  void leave_out(Json& value);
  bool arguments(std::string_view key, Json& value);

  Redactor redactor_;
  std::uint64_t left_out_ = 0;
  RedactCounts secrets_;
};

}  // namespace teller
