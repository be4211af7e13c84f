#include "reconstruct/step_record.h"

#include <limits>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "base/json.h"

namespace teller {

namespace {

using Json = nlohmann::json;

constexpr std::int64_t kFirstVersion = 1;
constexpr std::int64_t kVersion = 2;
// Larger counts are damage; kept out so that sums can't overflow.
constexpr std::int64_t kMaxCount = std::int64_t{1} << 48;

constexpr std::size_t kMostReasonBytes = 64;

bool read_count(const Json& value, std::int64_t& count) {
  if (!value.is_number_integer()) return false;
  const auto number = value.get<std::int64_t>();
  if (number < 0 || number > kMaxCount) return false;
  count = number;
  return true;
}

// "[used, limit]" of 32-bit columns; what is missing or too large stays -1.
void read_pair(const Json& record, const char* key, std::int32_t& first, std::int32_t& second) {
  const auto pair = record.find(key);
  if (pair == record.end() || !pair->is_array()) return;
  std::int32_t* const targets[] = {&first, &second};
  for (std::size_t i = 0; i < 2 && i < pair->size(); ++i) {
    std::int64_t count = -1;
    if (read_count((*pair)[i], count) && count <= std::numeric_limits<std::int32_t>::max()) {
      *targets[i] = static_cast<std::int32_t>(count);
    }
  }
}

bool is_true(const Json& value) {
  return value.is_boolean() ? value.get<bool>()
                            : value.is_number_integer() && value.get<std::int64_t>() != 0;
}

// [id, phase, new, scheduled, computed]
bool read_scheduled(const Json& entry, RecordRow& row) {
  if (!entry.is_array() || entry.size() < 5 || !entry[0].is_string() || !entry[1].is_string()) {
    return false;
  }
  const auto& phase = entry[1].get_ref<const std::string&>();
  if (phase != "prefill" && phase != "decode") return false;
  row.id = entry[0].get<std::string>();
  row.phase = phase == "prefill" ? RowPhase::kPrefill : RowPhase::kDecode;
  row.is_new = is_true(entry[2]);
  return !row.id.empty() && read_count(entry[3], row.scheduled) &&
         read_count(entry[4], row.computed);
}

// [id, computed], and in "wait" optionally a reason; what follows is ignored.
bool read_passive(const Json& entry, RecordRow& row) {
  if (!entry.is_array() || entry.size() < 2 || !entry[0].is_string()) return false;
  row.id = entry[0].get<std::string>();
  if (row.phase == RowPhase::kWaiting && entry.size() > 2 && entry[2].is_string()) {
    row.reason = entry[2].get<std::string>().substr(0, kMostReasonBytes);
  }
  return !row.id.empty() && read_count(entry[1], row.computed);
}

class RowReader {
 public:
  explicit RowReader(StepRecord& record) : record_(record) {}

  void scheduled(const Json& list) {
    for (const Json& entry : list) {
      RecordRow row;
      read_scheduled(entry, row) ? keep(std::move(row)) : leave_out();
    }
  }

  // A request has one row a step: what it got says more than that it waits, and that it was
  // preempted says more than either.
  void passive(const Json& json, const char* key, RowPhase phase) {
    const auto list = json.find(key);
    if (list == json.end() || !list->is_array()) return;
    for (const Json& entry : *list) {
      RecordRow row;
      row.phase = phase;
      if (!read_passive(entry, row)) {
        leave_out();
        continue;
      }
      if (phase == RowPhase::kWaiting && record_.number >= 0) record_.wait.push_back(row);
      keep(std::move(row));
    }
  }

 private:
  void keep(RecordRow row) {
    if (!seen_.insert(row.id).second) return;
    record_.rows.push_back(std::move(row));
  }
  void leave_out() { ++record_.malformed_entries; }

  StepRecord& record_;
  std::unordered_set<std::string> seen_;
};

}  // namespace

RecordOutcome parse_step_record(std::string_view text, StepRecord& record) {
  const Json json = parse_json(text);
  if (!json.is_object()) return RecordOutcome::kUnreadable;
  const auto version = json.find("v");
  if (version == json.end() || !version->is_number_integer()) return RecordOutcome::kUnreadable;
  if (version->get<std::int64_t>() > kVersion) return RecordOutcome::kNewer;
  const auto engine = json.find("engine");
  const auto requests = json.find("req");
  const bool known = version->get<std::int64_t>() >= kFirstVersion;
  const bool complete =
      engine != json.end() && engine->is_string() && requests != json.end() && requests->is_array();
  if (!known || !complete) return RecordOutcome::kUnreadable;
  record.engine = engine->get<std::string>();
  if (const auto step = json.find("step"); step != json.end()) read_count(*step, record.step);
  if (const auto number = json.find("n"); number != json.end()) read_count(*number, record.number);
  RowReader rows(record);
  rows.scheduled(*requests);
  rows.passive(json, "preempt", RowPhase::kPreempted);
  rows.passive(json, "wait", RowPhase::kWaiting);
  if (const auto wait = json.find("wait"); wait != json.end() && !wait->is_array()) {
    if (!read_count(*wait, record.wait_of)) ++record.malformed_entries;
  }
  std::int32_t used = -1;
  read_pair(json, "tokens", used, record.token_limit);
  record.tokens = used;
  read_pair(json, "seqs", record.seqs, record.seq_limit);
  read_pair(json, "kv", record.kv_free, record.kv_total);
  return RecordOutcome::kGood;
}

bool WaitLists::complete(StepRecord& record) {
  if (record.wait_of < 0) {
    if (record.number < 0) return true;
    number_ = record.number;
    rows_ = std::move(record.wait);
    return true;
  }
  if (record.wait_of != number_) return false;
  std::unordered_set<std::string_view> seen;
  for (const RecordRow& row : record.rows) seen.insert(row.id);
  std::vector<RecordRow> missing;
  for (const RecordRow& row : rows_) {
    if (!seen.contains(row.id)) missing.push_back(row);
  }
  record.rows.insert(record.rows.end(), missing.begin(), missing.end());
  return true;
}

}  // namespace teller
