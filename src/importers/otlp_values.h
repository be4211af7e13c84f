// Values of OpenTelemetry's JSON (OTLP): attributes, numbers and times, in either spelling of their
// keys.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace teller {

// Member `camel` of `object`, or else `snake`: OTLP/JSON writes lowerCamelCase, other writers of
// the same messages their fields' own names. Null if neither is there.
const nlohmann::ordered_json& otlp_member(const nlohmann::ordered_json& object, const char* camel,
                                          const char* snake);
// A text member; "" if it is missing or no text.
std::string otlp_text(const nlohmann::ordered_json& object, const char* camel, const char* snake);
// 64-bit integers are written as text, by some as numbers.
std::optional<std::int64_t> otlp_integer(const nlohmann::ordered_json& value);
// An attribute's value (AnyValue) as plain JSON; null if it is none.
nlohmann::ordered_json otlp_value(const nlohmann::ordered_json& any);

// The attributes of a span, an event, a link or a resource as one object, with all that they hold.
// Of a key that is repeated the last value counts; `left_out` counts those before it, pairs without
// a key, and what is beyond 1024 members.
// OtlpContent::clean() is for what is stored.
nlohmann::ordered_json otlp_attributes(const nlohmann::ordered_json& owner);

}  // namespace teller
