// One record as text or JSON: both forms are made from the same object, so that they cannot differ
// in content.
#pragma once

#include <iosfwd>
#include <nlohmann/json.hpp>
#include <string_view>

namespace teller {

// Prints `record` as one line: JSON, or `word key=value key=value`, where strings are quoted only
// if they need to be. Control characters never reach the terminal: JSON escapes them, text quotes
// such values as JSON.
void print_record(std::string_view word, const nlohmann::ordered_json& record, bool json,
                  std::ostream& out);

}  // namespace teller
