// What became of the records of one source. Every record is in exactly one bucket.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace teller {

struct SourceCounts {
  std::uint64_t records = 0;     // all of the source, = sum of the buckets below
  std::uint64_t events = 0;      // kept as events of a kind that is known
  std::uint64_t metadata = 0;    // names and labels; kept in META
  std::uint64_t flows = 0;       // kept as flow events
  std::uint64_t duplicates = 0;  // left out because the same record was there before
  std::uint64_t malformed = 0;   // left out because they can't be read
  // Kept as kUnknown events; category or ph -> count. Those without a category are kept as ranges.
  std::map<std::string, std::uint64_t> unknown;

  // Not buckets: properties of records that are counted above.
  std::uint64_t clipped = 0;   // a number did not fit, or a time was taken from a related record
  std::uint64_t repaired = 0;  // text that is no JSON or no UTF-8 was mended
  bool truncated = false;      // the source stops before its end
  std::uint64_t bytes_behind = 0;  // behind the compressed data: not read
  // Behind the JSON value that a source is: in no record.
  std::uint64_t bytes_after_document = 0;

  std::uint64_t unknown_total() const;
  bool balanced() const;
  // What is to be said of bytes_after_document; "" if there are none.
  std::string rest_note() const;
  // The META object "counts".
  nlohmann::ordered_json to_json() const;
};

}  // namespace teller
