// Counts of one event file. The definitions are those of docs/reconstruct.md, "stats". Private to
// stats/ and its tests.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "run_folder/event_file.h"

namespace teller {

struct SourceStats {
  std::map<std::string, std::uint64_t> complete_events;  // by category; captures: by kind
  std::uint64_t device_activities = 0;
  std::uint64_t device_activities_bound = 0;    // a call with their correlation id is in the file
  std::map<std::string, std::int64_t> busy_ns;  // by device: length of the union of its activities
  std::uint64_t same_stream_overlaps = 0;       // sorted neighbours of one stream that overlap
  std::vector<std::string> annotations;         // sorted, distinct, at most kMaxAnnotations
};

inline constexpr std::size_t kMaxAnnotations = 40;

// Counts the events of `file`, whose META names `dialect`.
SourceStats count_source(const EventFile& file, const std::string& dialect);

}  // namespace teller
