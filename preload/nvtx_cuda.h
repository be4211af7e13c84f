// Names that the program gives to CUDA devices, contexts and streams through NVTX.
#pragma once

#include <nvtx3/nvToolsExt.h>

namespace teller::collector {

void attach_cuda_names(const NvtxExportTableCallbacks& callbacks) noexcept;

}  // namespace teller::collector
