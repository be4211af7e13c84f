// Writes diagnosis.json, whoever made the diagnosis: a model, or rules.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "run_folder/run_folder.h"
#include "teller/result.h"

namespace teller {

inline constexpr const char* kDiagnosisFile = "diagnosis.json";

// Writes the diagnosis in place of one that is there, and records it in the manifest as made from
// the artefacts `from` with these options (JSON).
Status publish_diagnosis(RunFolder& run, const nlohmann::ordered_json& diagnosis,
                         std::vector<std::string> from, const std::string& options_json = "{}");

}  // namespace teller
