// The importer of OpenTelemetry's JSON.
#include "fuzz_import.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return teller::fuzz::fuzz_importer(teller::import_otlp, data, size);
}
