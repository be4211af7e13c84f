// The doors of the library: what NVTX, the CUDA driver and the dynamic linker call.
#include <cstdint>
#include <cstdlib>

#include "preload/arena.h"
#include "preload/cupti_source.h"
#include "preload/nvtx_payload.h"
#include "preload/nvtx_source.h"

#define TELLER_EXPORT extern "C" __attribute__((visibility("default")))

// NVTX_INJECTION64_PATH: called once per copy of NVTX in the process.
TELLER_EXPORT int InitializeInjectionNvtx2(const void* (*get_export_table)(std::uint32_t)) {
  return teller::collector::attach_nvtx(get_export_table) ? 1 : 0;
}

// The same, once per copy of each extension of NVTX. 0 for those that are not recorded.
TELLER_EXPORT int InitializeInjectionNvtxExtension(nvtxExtModuleInfo_t* module) {
  return teller::collector::attach_nvtx_payloads(module) ? 1 : 0;
}

// CUDA_INJECTION64_PATH: called by the driver while it initialises. 1, whatever came of it: a
// failure of ours must not become one of CUDA.
TELLER_EXPORT int InitializeInjection() {
  teller::collector::start_cupti();
  return 1;
}

namespace {

// With --preload every process announces itself, not only those that have something to record.
__attribute__((constructor)) void on_load() {
  if (secure_getenv("TELLER_PRELOAD") != nullptr) teller::collector::ensure_arena();
}

}  // namespace
