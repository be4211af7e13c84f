// Writes a snapshot as a run folder.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "run_folder/run_folder.h"
#include "snapshot/facts.h"
#include "snapshot/log_tails.h"
#include "snapshot/snapshot.h"
#include "snapshot/surroundings.h"

namespace teller::snapshot_detail {

inline constexpr const char* kSnapshotFile = "snapshot.json";

// Everything of a snapshot that is written.
struct Contents {
  nlohmann::ordered_json document;  // snapshot.json
  std::vector<LogTail> logs;
  std::vector<FlightRecord> flight_records;
};

// Writes events, logs, processes and snapshot.json, and seals the run.
Status write_snapshot(const Job& job, const Contents& contents, const SnapshotOptions& options,
                      RunFolder& run);

}  // namespace teller::snapshot_detail
