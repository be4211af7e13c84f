// Samples of processes and of the host, from /proc. Private to context/ and its tests.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace teller {

using ContextRecord = nlohmann::ordered_json;

// One process: CPU time, memory, faults, switches, threads, bytes read and written, state. Nothing
// if it is gone. `root` is put before /proc.
std::optional<ContextRecord> sample_process(const std::string& root, std::int64_t pid);
// The host: load, CPU time, memory, pressure, network and disks.
ContextRecord sample_host(const std::string& root);

}  // namespace teller
