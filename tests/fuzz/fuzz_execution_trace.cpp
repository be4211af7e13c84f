// The importer of PyTorch's execution traces (Chakra).
#include "fuzz_import.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return teller::fuzz::fuzz_importer(teller::import_chakra, data, size);
}
