// The sections of the report's text, in the order in which they are shown.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "report/report.h"

namespace teller::report_detail {

using Json = nlohmann::ordered_json;

std::string header_text(const Json& document, const TextStyle& style);
std::string diagnosis_text(const Json& document, const TextStyle& style);
std::string stands_out_text(const Json& document, const TextStyle& style);
std::string surroundings_text(const Json& document, const TextStyle& style);
std::string requests_text(const Json& document, const TextStyle& style);
std::string request_steps_text(const Json& document, const TextStyle& style);
std::string chain_text(const Json& document, const TextStyle& style);
std::string deviations_text(const Json& document, const TextStyle& style);
std::string logs_text(const Json& document, const TextStyle& style);

// A JSON value of the document as safe text: strings without quotes, "–" for null.
std::string shown(const Json& value);
// A number with three significant digits.
std::string number(const Json& value);
// "1 step", "2 steps"; what is no number is shown as it is.
std::string counted(const Json& count, const std::string& noun);
// The text of a log line, without the level that it may begin with: the level is shown beside it.
Json without_level(const Json& line);

}  // namespace teller::report_detail
