// The importer of PyTorch's profiler traces.
#include "fuzz_import.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return teller::fuzz::fuzz_importer(teller::import_kineto, data, size);
}
