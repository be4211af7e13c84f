// CUPTI as a source of events: runtime and driver calls, kernels, copies, memsets, synchronisation,
// overhead.
#pragma once

namespace teller::collector {

// Starts CUPTI in this process, once; what came of it is noted as "cuda". Never fails loudly. [MT]
void start_cupti() noexcept;

}  // namespace teller::collector
