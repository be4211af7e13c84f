// The metrics that an inference engine shows (Prometheus' text).
#include "context/metrics.h"
#include "fuzz_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace teller;
  using Json = nlohmann::ordered_json;
  const std::string_view text = fuzz::text_of(data, size);
  for (const bool all : {false, true}) {
    const ContextRecord record = read_metrics(text, all);
    fuzz::demand(record.is_object() && record.contains("series"), "a record without series");
    fuzz::demand(record["series"].size() <= 4096, "more series than are kept");
    const std::string line = record.dump(-1, ' ', false, Json::error_handler_t::replace);
    fuzz::demand(line.find('\n') == std::string::npos, "a record of several lines");
  }
  return 0;
}
