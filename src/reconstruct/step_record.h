// Reads the step record (docs/step_record.md). Private to reconstruct/ and its tests.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "run_folder/chains.h"

namespace teller {

struct RecordRow {
  std::string id;
  RowPhase phase = RowPhase::kDecode;
  bool is_new = false;
  std::int64_t scheduled = 0;
  std::int64_t computed = 0;
  std::string reason;  // that it waits for; "" if the record gives none
};

struct StepRecord {
  std::string engine;
  std::int64_t step = -1;
  std::vector<RecordRow> rows;  // req, wait, preempt; one per request and kind
  std::int64_t tokens = -1;
  std::int32_t token_limit = -1;
  std::int32_t seqs = -1;
  std::int32_t seq_limit = -1;
  std::int32_t kv_free = -1;
  std::int32_t kv_total = -1;
  std::uint64_t malformed_entries = 0;  // entries of req, wait and preempt that were left out
};

enum class RecordOutcome { kGood, kUnreadable, kNewer };

// Parses the JSON of a step record into `record`.
RecordOutcome parse_step_record(std::string_view json, StepRecord& record);

}  // namespace teller
