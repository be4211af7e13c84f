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

std::string SourceCounts::rest_note() const {
  if (bytes_after_document == 0) return "";
  return std::to_string(bytes_after_document) +
         " bytes behind the end of its JSON value were not read: give what they hold as a file of "
         "its own";
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
  if (bytes_behind > 0) json["bytes_behind"] = bytes_behind;
  if (bytes_after_document > 0) json["bytes_after_document"] = bytes_after_document;
  return json;
}

}  // namespace teller
