// What NCCL says of its calls through NVTX payloads, under plain keys.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

namespace teller::capture {

// Domain of NCCL's ranges.
inline constexpr std::string_view kNcclDomain = "NCCL";

// Adds `collective` (or `operation` for calls that are none), `bytes`, `communicator`, `rank`, … to
// `attrs`, as far as the fields of `payload` say so. `schema` and `range` are names: AllReduce,
// ncclAllReduce.
void add_nccl_keys(const nlohmann::ordered_json& payload, std::string_view schema,
                   std::string_view range, nlohmann::ordered_json* attrs);

}  // namespace teller::capture
