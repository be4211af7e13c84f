// Dumps of PyTorch's NCCL flight recorder, pickles and JSON, and what is concluded of their rank.
#include "fuzz_import.h"
#include "importers/input_stream.h"

namespace teller::fuzz {

namespace {

Result<SourceResult> import_dump(const SourceRequest& request, const std::string& output) {
  std::vector<FlightClue> clues;
  for (const char* name : {"dump_1", "dump"}) {
    TELLER_TRY(const auto input, InputStream::open(request.path));
    const auto dump = read_flight_dump(*input);
    if (dump) clues.push_back(flight_clue(*dump, name));
  }
  const std::vector<FlightRank> ranks = resolve_flight_ranks(clues);
  demand(ranks.size() == clues.size(), "ranks for dumps that are not there");
  return import_flight(request, ranks.empty() ? FlightRank{} : ranks.front(), output);
}

}  // namespace

}  // namespace teller::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return teller::fuzz::fuzz_importer(teller::fuzz::import_dump, data, size);
}
