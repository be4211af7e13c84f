// Reads a run of PyTorch flight recorder dumps by rules: which ranks hold the others up. One of the
// headers of this folder that others include. docs/flight_records.md.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "run_folder/run_folder.h"
#include "teller/result.h"

namespace teller {

// Whether the run's sources are flight recorder dumps, all of them.
bool is_flight_run(const RunFolder& run);

// Compares the ranks: writes diagnosis.json and returns it. Needs the run's events alone.
Result<nlohmann::ordered_json> diagnose_flight(RunFolder& run);

// That diagnosis as text for people; what comes from outside is escaped.
std::string flight_diagnosis_text(const nlohmann::ordered_json& diagnosis);

}  // namespace teller
