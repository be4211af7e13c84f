// The peaks of a run's context, for people.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace teller {

// A few lines; "" if `peaks` (of context_peaks()) is null.
std::string context_text(const nlohmann::ordered_json& peaks);

}  // namespace teller
