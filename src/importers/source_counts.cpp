#include "importers/source_counts.h"

#include <nlohmann/json.hpp>

#include "base/bounded_counts.h"

namespace teller {

std::uint64_t SourceCounts::unknown_total() const {
  std::uint64_t total = 0;
  for (const auto& [what, count] : unknown) total += count;
  return total;
}

bool SourceCounts::balanced() const {
  return records == events + metadata + flows + duplicates + malformed + unknown_total();
}

nlohmann::ordered_json SourceCounts::to_json() const {
  nlohmann::ordered_json json;
  json["records"] = records;
  json["events"] = events;
  json["metadata"] = metadata;
  json["flows"] = flows;
  json["duplicates"] = duplicates;
  json["malformed"] = malformed;
  json["unknown"] = bounded_counts(unknown);
  json["clipped"] = clipped;
  json["repaired"] = repaired;
  json["truncated"] = truncated;
  return json;
}

}  // namespace teller
