// The stage `snapshot`: looks at the processes of a job that hangs, without having traced it, and
// reads what they wait for. The only header of this folder that others include. docs/snapshot.md.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "run_folder/run_folder.h"
#include "teller/result.h"

namespace teller {

struct SnapshotOptions {
  std::vector<std::int64_t> pids;
  std::string output;         // run folder; "" = runs/snapshot-<time>
  bool overwrite = false;     // replace a run that is there
  bool children = true;       // descendants too
  bool job = true;            // other processes of the same job on this host, by environment
  bool logs = true;           // the ends of log files that the processes write
  bool pause = false;         // allow tools that stop a process for some milliseconds
  bool trigger_dump = false;  // ask PyTorch's flight recorder to write a dump
  int samples = 3;
  int interval_ms = 300;   // between samples
  double duration_s = 30;  // what is not done by then is left out, and said
  // Once true, the same for what is not done yet. Null: never.
  const std::atomic<bool>* stop = nullptr;
};

struct SnapshotResult {
  std::string path;                                    // of the run folder
  std::shared_ptr<const nlohmann::ordered_json> gaps;  // [{part, pid, reason, hint}, …]
};

// Takes the snapshot and writes the run folder. Fails if a process of
// `options.pids` does not exist, or the run cannot be written; what else could not be had is listed
// under "gaps" of snapshot.json.
Result<SnapshotResult> take_snapshot(const SnapshotOptions& options);

// Whether the run was made by take_snapshot().
bool is_snapshot(const RunFolder& run);

// Reads a snapshot by rules (no model): writes diagnosis.json and returns it.
Result<nlohmann::ordered_json> diagnose_snapshot(RunFolder& run);

// That diagnosis as text for people; what comes from outside is escaped.
std::string snapshot_diagnosis_text(const nlohmann::ordered_json& diagnosis);

}  // namespace teller
