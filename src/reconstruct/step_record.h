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
  // req, preempt, wait; one per request, of the kind that says most.
  std::vector<RecordRow> rows;
  std::int64_t number = -1;     // of the record, where others may refer to its wait
  std::vector<RecordRow> wait;  // all of it, if the record has a number
  // The number of the record that has this one's wait; -1 if it has its own, or none.
  std::int64_t wait_of = -1;
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

// The waiting requests of the records of one engine, of which most have those of an earlier one.
class WaitLists {
 public:
  // Adds the waiting requests that `record` refers to. False if they are not known. To be called
  // for all records of a process and engine in the order of their time.
  bool complete(StepRecord& record);

 private:
  std::int64_t number_ = -1;
  std::vector<RecordRow> rows_;
};

}  // namespace teller
