// What --json prints.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace teller::cli {

// One document on stdout, with a line's end: in ASCII, so that nothing in it can steer a terminal,
// and with whatever is no UTF-8 replaced. `indent` as in nlohmann: -1 is one line.
void put_json(const nlohmann::ordered_json& document, int indent = 1);

}  // namespace teller::cli
