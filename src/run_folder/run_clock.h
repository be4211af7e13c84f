// The clock of a run or of one of its sources, and how two of them relate.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace teller {

struct SourceClock {
  std::string host;  // "" unknown
  std::string base;  // "CLOCK_MONOTONIC", …
  std::optional<std::int64_t> unix_offset_ns;
};

// What `owner`, a manifest or the META of an event file, says of its clock ("clock") and its host
// ("host", or the clock's own, in runs of several hosts).
SourceClock read_clock(const nlohmann::ordered_json& owner);

// What to add to a time of `source` to have it on the clock of `run`, in nanoseconds. 0 on one
// host: two processes read the offset to Unix time at different moments, and what they differ by is
// only the error of that. Where a host is not known, offsets within a second are taken for one
// host's.
std::int64_t shift_between(const SourceClock& source, const SourceClock& run);

// The shift of each source to the run's clock: that of the manifest (`run`), else that of the first
// source which states one.
std::vector<std::int64_t> shifts_to_run(SourceClock run, const std::vector<SourceClock>& sources);

}  // namespace teller
