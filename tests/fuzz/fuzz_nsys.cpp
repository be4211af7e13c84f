// The importer of Nsight Systems' SQLite exports.
#include "fuzz_import.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return teller::fuzz::fuzz_importer(teller::import_nsys, data, size);
}
