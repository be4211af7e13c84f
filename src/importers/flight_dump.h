// A dump of PyTorch's NCCL flight recorder as one JSON value, and which rank wrote it.
#pragma once

#include <atomic>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "importers/input_stream.h"
#include "teller/result.h"

namespace teller {

// Whether `head`, the beginning of a file (inflated), looks like a dump: a pickle, or a JSON object
// whose first member is one of a dump's.
bool looks_like_flight_dump(std::string_view head);

// Reads the dump that `input` holds, pickle or JSON, from where it stands to its end. Says in
// `byte_order_mark` (may be null) whether a UTF-8 mark stood before the JSON; it is passed over.
Result<nlohmann::ordered_json> read_flight_dump(InputStream& input,
                                                bool* byte_order_mark = nullptr);

// What a dump and its file's name say of the rank that wrote it.
struct FlightClue {
  // Ranks that belong to every process group of the dump, or that its sends and receives name;
  // ascending. Nothing where it holds neither.
  std::optional<std::vector<int>> candidates;
  // The number at the end of the file's name, as PyTorch writes it.
  std::optional<int> in_name;
};
FlightClue flight_clue(const nlohmann::ordered_json& dump, std::string_view file_name);

struct FlightRank {
  std::optional<int> rank;
  // "content", "other dumps" (the ranks left when those known are taken away), "file name", or
  // "unknown".
  std::string from = "unknown";
};
// The ranks of dumps of one job. Names of files are asked last: only for dumps whose contents and
// peers leave several ranks, and not at all if a name contradicts what any dump holds.
std::vector<FlightRank> resolve_flight_ranks(const std::vector<FlightClue>& clues);

}  // namespace teller
