// NVTX as a source of events: what the program marks itself, and what our Python hooks mark.
#pragma once

#include <cstdint>

namespace teller::collector {

// `get_export_table` is what NVTX hands to InitializeInjectionNvtx2. Called once per copy of NVTX
// in the process, from any thread. False: nothing is recorded here, and NVTX may stay without a
// tool. [MT]
bool attach_nvtx(const void* (*get_export_table)(std::uint32_t)) noexcept;

// How often attach_nvtx succeeded. [MT]
std::uint32_t nvtx_attach_count() noexcept;

}  // namespace teller::collector
