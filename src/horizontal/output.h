// horizontal.json and collectives.jsonl. Private to horizontal/.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "horizontal/comparison.h"
#include "run_folder/chains.h"

namespace teller::horizontal_detail {

// A rank's number; null where it is not known.
nlohmann::ordered_json rank_json(const RankOperations& rank);
nlohmann::ordered_json comparison_json(const Chains& chains, const Comparison& found);
// The same in a few lines.
std::string comparison_text(const nlohmann::ordered_json& json);
// One line per collective, written piece by piece; takes the place of `path` when it is whole.
Status write_collectives(const Comparison& found, const std::string& path);

}  // namespace teller::horizontal_detail
