// Finds the steps: their roots, the threads that work for them, and which step every item is in.
#include <algorithm>
#include <utility>

#include "base/huge_pages.h"
#include "reconstruct/item_order.h"
#include "reconstruct/passes.h"
#include "reconstruct/range_around.h"
#include "reconstruct/step_record.h"
#include "reconstruct/worker_join.h"
#include "reconstruct/worker_threads.h"

namespace teller {

namespace {

class StepFinder {
 public:
  explicit StepFinder(Workspace& work) : work_(work), items_(work.items) {
    reserve_huge(work_.step_of, items_.size());
    work_.step_of.assign(items_.size(), kNoIndex);
  }

  StepRoots find() {
    for (Thread& thread : work_.threads) find_on_thread(thread);
    number_steps();
    WorkerThreads workers(work_, roots_);
    workers.attach_by_time();
    for (const Thread& thread : work_.threads) spread(thread);
    for (const std::uint32_t thread : workers.attach_by_flows()) spread(work_.threads[thread]);
    for (const std::uint32_t thread : join_worker_processes(work_, roots_)) {
      spread(work_.threads[thread]);
    }
    if (add_steps_of_records()) {
      number_steps();
      for (const Thread& thread : work_.threads) spread(thread);
    }
    spread_to_devices();
    return std::move(roots_);
  }

 private:
  // The outermost range that may be a step is one; what is inside it is part of it. `step_of` holds
  // root items until number_steps().
  void find_on_thread(Thread& thread) {
    for (std::uint32_t at = thread.first; at < thread.first + thread.count; ++at) {
      const std::uint32_t index = work_.order[at];
      Item& item = items_[index];
      std::uint32_t& step = work_.step_of[index];
      if (item.parent != kNoIndex) step = work_.step_of[item.parent];
      if ((item.marks & kStepRange) == 0 || step != kNoIndex) continue;
      step = index;
      thread.has_step = true;
      make_root(index);
    }
  }

  void make_root(std::uint32_t index) {
    items_[index].marks |= kStepRoot;
    items_[index].layer = Layer::kStep;
    roots_.items.push_back(index);
  }

  void number_steps() {
    std::sort(roots_.items.begin(), roots_.items.end(), BeginOrder{work_});
    roots_.schedules = roots_.items;
    std::fill(work_.step_of.begin(), work_.step_of.end(), kNoIndex);
    for (std::uint32_t step = 0; step < roots_.items.size(); ++step) {
      work_.step_of[roots_.items[step]] = step;
    }
  }

  // A record outside every step (an engine of which only the schedule is wrapped) makes a step of
  // its own: of the innermost range around it if that holds no other record and no step, else of
  // itself. True if there is one.
  bool add_steps_of_records() {
    std::vector<std::uint32_t> records;
    for (const std::uint32_t index : work_.order) {
      if (items_[index].kind != ItemKind::kRecord || work_.step_of[index] != kNoIndex) continue;
      StepRecord record;
      const auto outcome = parse_step_record(work_.record_of(items_[index]), record);
      if (outcome == RecordOutcome::kGood) records.push_back(index);
    }
    if (records.empty()) return false;
    const std::vector<std::uint32_t> below = count_below(records);
    RangeAround around(items_);
    for (const std::uint32_t index : records) {
      const std::uint32_t range = around.of(index);
      if (range != kNoIndex && below[range] == 1) {
        make_root(range);
      } else {
        make_step(index);
      }
      ++work_.counters.step_records_outside;
    }
    return true;
  }

  // By item: how many of these records, and of the steps, lie below it.
  std::vector<std::uint32_t> count_below(const std::vector<std::uint32_t>& records) const {
    std::vector<std::uint32_t> below(items_.size(), 0);
    for (const std::uint32_t index : records) below[index] = 1;
    for (const std::uint32_t index : roots_.items) below[index] = 2;  // never the only record
    for (auto at = work_.order.rbegin(); at != work_.order.rend(); ++at) {
      const std::uint32_t parent = items_[*at].parent;
      if (parent != kNoIndex) below[parent] += below[*at];
    }
    return below;
  }

  void make_step(std::uint32_t record) {
    Item step = items_[record];
    step.kind = ItemKind::kStep;
    step.flags = kNodeSynthetic;
    step.marks = 0;
    step.parent = kNoIndex;
    const auto index = static_cast<std::uint32_t>(items_.size());
    items_.push_back(step);
    work_.step_of.push_back(kNoIndex);
    make_root(index);
    items_[record].parent = index;
  }

  // Parents before children: each item takes over its parent's step. What External ids hang under
  // an operator of another thread is taken along once more.
  void spread(const Thread& thread) {
    for (std::uint32_t at = thread.first; at < thread.first + thread.count; ++at) {
      take_step(work_.order[at]);
    }
  }

  void take_step(std::uint32_t index) {
    const Item& item = items_[index];
    if ((item.marks & kStepRoot) != 0 || item.parent == kNoIndex) return;
    work_.step_of[index] = work_.step_of[item.parent];
  }

  void spread_to_devices() {
    // Calls that hang under an operator of a thread that came later: once more, now that all
    // threads are done. Chains of such calls can't form: operators below calls adopt nothing.
    if (work_.counters.calls_by_external_id > 0) {
      for (const Thread& thread : work_.threads) spread(thread);
    }
    for (const std::uint32_t index : work_.devices) take_step(index);
  }

  Workspace& work_;
  std::vector<Item>& items_;
  StepRoots roots_;
};

void count_coverage(Workspace& work) {
  for (std::uint32_t index = 0; index < work.items.size(); ++index) {
    const Item& item = work.items[index];
    if ((item.marks & kDropped) != 0) continue;
    const bool in_step = work.step_of[index] != kNoIndex;
    switch (item.kind) {
      case ItemKind::kRange:
      case ItemKind::kAsyncRange:
        ++work.counters.ranges;
        if (in_step) ++work.counters.ranges_in_steps;
        break;
      case ItemKind::kCall:
        if ((item.marks & kInRange) != 0) ++work.counters.calls_in_ranges;
        if (in_step) ++work.counters.calls_in_steps;
        break;
      case ItemKind::kDevice:
        if (in_step) ++work.counters.device_in_steps;
        break;
      default:
        break;
    }
  }
}

}  // namespace

StepRoots find_steps(Workspace& work) {
  StepRoots roots = StepFinder(work).find();
  count_coverage(work);
  return roots;
}

}  // namespace teller
