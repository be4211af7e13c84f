// JSON from untrusted sources.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

namespace teller {

// Deeper than any of ours, and far from what would exhaust the stack when such a value is copied or
// printed.
inline constexpr int kMaxJsonDepth = 64;

// True if no value in `text` is nested deeper than `max_depth`. Looks at brackets outside of
// strings only.
bool json_depth_within(std::string_view text, int max_depth);

// Parses `text` without exceptions; a discarded value (is_discarded()) if it is not JSON or nested
// deeper than kMaxJsonDepth.
nlohmann::ordered_json parse_json(std::string_view text);

// Whether parse_json() would give an object; nothing is built.
bool is_json_object(std::string_view text);

}  // namespace teller
