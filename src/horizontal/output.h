// horizontal.json and collectives.jsonl. Private to horizontal/.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "horizontal/comparison.h"
#include "run_folder/chains.h"

namespace teller::horizontal_detail {

nlohmann::ordered_json comparison_json(const Chains& chains, const Comparison& found);
// The same in a few lines.
std::string comparison_text(const nlohmann::ordered_json& json);
// One line per collective, written piece by piece; takes the place of `path` when it is whole.
Status write_collectives(const Comparison& found, const std::string& path);

}  // namespace teller::horizontal_detail
