// CUPTI as a source of events: runtime and driver calls, kernels, copies, memsets, synchronisation,
// graphs, memory, compilation, overhead (docs/cuda.md).
#pragma once

#include <cstdint>

namespace teller::collector {

// Starts CUPTI in this process, once; what came of it is noted as "cuda". Never fails loudly. [MT]
void start_cupti() noexcept;

// The number by which activities name a stream or a context.
struct CudaId {
  std::uint32_t id = 0;
  bool known = false;
};
// Of a CUstream or cudaStream_t, a CUcontext; unknown where CUPTI does not run. [MT]
CudaId id_of_stream(void* stream) noexcept;
CudaId id_of_context(void* context) noexcept;

}  // namespace teller::collector
