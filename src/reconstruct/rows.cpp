// Reads step records, and makes a row of every request that the scheduler knew in a step.
#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "reconstruct/annotation.h"
#include "reconstruct/item_order.h"
#include "reconstruct/passes.h"
#include "reconstruct/step_record.h"

namespace teller {

namespace {

// A record with the step that it belongs to; one that can't be read may have none.
struct PlacedRecord {
  std::uint32_t step = 0;
  std::uint32_t item = 0;
};

void start_steps(Workspace& work, const StepRoots& steps) {
  auto& columns = work.chains.steps;
  for (std::uint32_t step = 0; step < steps.items.size(); ++step) {
    const Item& root = work.items[steps.items[step]];
    const bool named = root.kind != ItemKind::kStep;
    const AnnotationFacts facts = parse_annotation(named ? work.name_of(root) : "");
    columns.engine.push_back(0);
    columns.number.push_back(facts.number);
    columns.begin_ns.push_back(root.begin_ns);
    columns.end_ns.push_back(root.end_ns);
    columns.tokens.push_back(facts.tokens);
    columns.context.push_back(facts.context);
    columns.kv_free.push_back(-1);
    columns.kv_total.push_back(-1);
    columns.token_limit.push_back(-1);
    columns.seqs.push_back(static_cast<std::int32_t>(std::min<std::int64_t>(facts.seqs, 1 << 30)));
    columns.seq_limit.push_back(-1);
    columns.first_row.push_back(0);
    columns.row_count.push_back(0);
    columns.open.push_back((root.flags & kNodeOpen) != 0 ? 1 : 0);
  }
}

// Where a step's own name says nothing of its tokens ("ProfilerStep#7"), the first engine
// annotation inside it does.
void use_inner_annotations(Workspace& work) {
  auto& steps = work.chains.steps;
  for (const std::uint32_t index : work.order) {
    const Item& item = work.items[index];
    const std::uint32_t step = work.step_of[index];
    if (step == kNoIndex || (item.marks & kStepRange) == 0 || steps.tokens[step] >= 0) continue;
    const AnnotationFacts facts = parse_annotation(work.name_of(item));
    if (facts.tokens < 0) continue;
    steps.tokens[step] = facts.tokens;
    steps.context[step] = facts.context;
    steps.seqs[step] = static_cast<std::int32_t>(std::min<std::int64_t>(facts.seqs, 1 << 30));
  }
}

std::vector<PlacedRecord> find_records(Workspace& work) {
  std::vector<PlacedRecord> records;
  for (const std::uint32_t index : work.order) {
    Item& item = work.items[index];
    if (item.kind != ItemKind::kRecord) continue;
    item.marks |= kDropped;
    ++work.counters.step_records;
    records.push_back({work.step_of[index], index});
  }
  const BeginOrder before{work};
  std::sort(records.begin(), records.end(), [&](const PlacedRecord& a, const PlacedRecord& b) {
    return a.step != b.step ? a.step < b.step : before(a.item, b.item);
  });
  return records;
}

class RowMaker {
 public:
  RowMaker(Workspace& work, StepRoots& steps) : work_(work), steps_(steps) {}

  void add(const PlacedRecord& placed) {
    const Item item = work_.items[placed.item];
    StepRecord record;
    switch (parse_step_record(work_.record_of(item), record)) {
      case RecordOutcome::kUnreadable:
        ++work_.counters.step_records_unreadable;
        return rebook(item.source, &RecordBalance::malformed);
      case RecordOutcome::kNewer:
        ++work_.counters.step_records_newer;
        return rebook(item.source, &RecordBalance::unknown);
      case RecordOutcome::kGood:
        break;
    }
    work_.counters.row_entries_malformed += record.malformed_entries;
    if (!wait_lists_[{item.source, record.engine}].complete(record)) {
      ++work_.counters.step_records_without_wait;
    }
    std::uint32_t& ordinal = steps_of_engine_[record.engine];
    set_schedule(placed.step, item);
    set_facts(placed.step, record);
    for (const RecordRow& row : record.rows) add_row(placed, item, row, ordinal);
    set_shares(placed.step);
    ++ordinal;
  }

 private:
  void rebook(std::uint16_t source, std::uint64_t RecordBalance::*bucket) {
    RecordBalance& balance = work_.sources[source].balance;
    --balance.links;
    ++(balance.*bucket);
  }

  // The innermost range around the record is the step's schedule node.
  void set_schedule(std::uint32_t step, const Item& record) {
    if (steps_.schedules[step] != steps_.items[step] || record.parent == kNoIndex) return;
    steps_.schedules[step] = record.parent;
    if (record.parent != steps_.items[step]) work_.items[record.parent].flags |= kNodeSchedule;
  }

  // A step with several records (a profiler's step around several of the engine's) sums what is
  // summable and keeps the first of the rest.
  void set_facts(std::uint32_t step, const StepRecord& record) {
    auto& columns = work_.chains.steps;
    std::int64_t scheduled = 0;
    std::int64_t context = 0;
    std::int32_t served = 0;
    for (const RecordRow& row : record.rows) {
      const bool runs = row.phase == RowPhase::kPrefill || row.phase == RowPhase::kDecode;
      scheduled += runs ? row.scheduled : 0;
      context += runs ? row.computed : 0;
      served += runs ? 1 : 0;
    }
    const bool first = columns.row_count[step] == 0;
    const std::int64_t tokens = record.tokens >= 0 ? record.tokens : scheduled;
    columns.tokens[step] = first ? tokens : columns.tokens[step] + tokens;
    columns.context[step] = first ? context : columns.context[step] + context;
    if (!first) return;
    columns.engine[step] = work_.chains.strings.intern(record.engine);
    if (record.step >= 0) columns.number[step] = record.step;
    columns.kv_free[step] = record.kv_free;
    columns.kv_total[step] = record.kv_total;
    columns.token_limit[step] = record.token_limit;
    columns.seqs[step] = record.seqs >= 0 ? record.seqs : served;
    columns.seq_limit[step] = record.seq_limit;
  }

  void add_row(const PlacedRecord& placed, const Item& record, const RecordRow& row,
               std::uint32_t ordinal) {
    auto& steps = work_.chains.steps;
    auto& rows = work_.chains.rows;
    const std::uint32_t request = work_.request(row.id);
    if (request >= history_.size()) history_.resize(request + 1);
    History& past = history_[request];
    if (!past.seen) past = {true, row.computed, ordinal};
    const bool served = row.phase == RowPhase::kPrefill || row.phase == RowPhase::kDecode;
    if (steps.row_count[placed.step]++ == 0) {
      steps.first_row[placed.step] = static_cast<std::uint32_t>(rows.step.size());
    }
    rows.step.push_back(placed.step);
    rows.request.push_back(request);
    rows.node.push_back(add_item(placed, record, row.phase));
    if (!row.reason.empty()) work_.wait_reasons[rows.node.back()] = row.reason;
    rows.scheduled.push_back(served ? row.scheduled : 0);
    rows.computed.push_back(row.computed);
    rows.computed_fall.push_back(std::max<std::int64_t>(past.most_computed - row.computed, 0));
    // A request that moved between engines has steps of another count behind it.
    rows.since_served.push_back(ordinal > past.next_step ? ordinal - past.next_step : 0);
    rows.end_ns.push_back(steps.end_ns[placed.step]);
    rows.share.push_back(0);
    rows.phase.push_back(static_cast<std::uint8_t>(row.phase));
    rows.is_new.push_back(row.is_new ? 1 : 0);
    past.most_computed = std::max(past.most_computed, row.computed);
    if (served && row.scheduled > 0) past.next_step = ordinal + 1;
  }

  std::uint32_t add_item(const PlacedRecord& placed, const Item& record, RowPhase phase) {
    Item item = record;
    item.kind = ItemKind::kRow;
    item.layer = Layer::kStep;
    item.flags = kNodeRow | kNodeSynthetic;
    item.marks = 0;
    item.detail = static_cast<std::uint8_t>(phase);
    work_.items.push_back(item);
    work_.step_of.push_back(placed.step);
    return static_cast<std::uint32_t>(work_.items.size() - 1);
  }

  void set_shares(std::uint32_t step) {
    auto& rows = work_.chains.rows;
    const auto& steps = work_.chains.steps;
    const std::uint32_t end = steps.first_row[step] + steps.row_count[step];
    std::int64_t total = 0;
    for (std::uint32_t row = steps.first_row[step]; row < end; ++row) total += rows.scheduled[row];
    for (std::uint32_t row = steps.first_row[step]; total > 0 && row < end; ++row) {
      rows.share[row] = static_cast<double>(rows.scheduled[row]) / static_cast<double>(total);
    }
  }

  // What is known of a request from the steps before.
  struct History {
    bool seen = false;
    std::int64_t most_computed = 0;
    std::uint32_t next_step = 0;  // the engine's step after the one that served it last
  };

  Workspace& work_;
  StepRoots& steps_;
  std::map<std::pair<std::uint16_t, std::string>, WaitLists> wait_lists_;  // by source and engine
  std::vector<History> history_;                                           // by request
  std::unordered_map<std::string, std::uint32_t> steps_of_engine_;         // records seen so far
};

}  // namespace

void add_rows(Workspace& work, StepRoots& steps) {
  start_steps(work, steps);
  RowMaker maker(work, steps);
  for (const PlacedRecord& record : find_records(work)) maker.add(record);
  use_inner_annotations(work);
}

}  // namespace teller
