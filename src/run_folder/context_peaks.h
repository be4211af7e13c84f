// Peaks of context.jsonl: what happened around a traced program (docs/context.md).
#pragma once

#include <nlohmann/json.hpp>

#include "run_folder/run_folder.h"
#include "teller/result.h"

namespace teller {

// `processes`, `host`, `cgroups`, `gpus`, `engines` and `records` of the run's samples; null if it
// has none. Lines that cannot be read are counted (`malformed`), values of a wrong type left out.
Result<nlohmann::ordered_json> context_peaks(const RunFolder& run);

}  // namespace teller
