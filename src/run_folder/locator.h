// How anything found is named in files and JSON: locators.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "run_folder/chains.h"
#include "run_folder/run_folder.h"

namespace teller {

// The name of a run, or of any folder: the last part of its path.
std::string folder_name(const std::string& path);
// The layer of this short name ("STEP", "FE", …).
std::optional<Layer> layer_of(std::string_view name);

// What a locator needs to know of the run.
struct RunName {
  std::string run;   // the run folder's name
  std::string host;  // "" where unknown
};

// Name and host of a run folder.
RunName run_name(const RunFolder& run);

// {run, host, rank, pid, step, node, layer, family, name, start_ns}; null where unknown.
nlohmann::ordered_json locator(const Chains& chains, const RunName& run, std::uint32_t node);

// `x` with six significant digits, so that files do not depend on the last bits of a sum.
double rounded(double x);

}  // namespace teller
