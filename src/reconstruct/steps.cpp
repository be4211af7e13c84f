// Finds the steps: their roots, the threads that work for them, and which step every item is in.
#include <algorithm>
#include <limits>

#include "reconstruct/passes.h"

namespace teller {

namespace {

// How many steps in flight are looked at for a worker's range: pipelines overlap a few steps.
constexpr int kMaxInFlight = 16;

class StepFinder {
 public:
  explicit StepFinder(Workspace& work) : work_(work), items_(work.items) {
    work_.step_of.assign(items_.size(), kNoIndex);
  }

  StepRoots find() {
    for (Thread& thread : work_.threads) find_on_thread(thread);
    number_steps();
    for (const Thread& thread : work_.threads) {
      if (thread.worker && !thread.has_step && thread.host) attach_worker(thread);
    }
    for (const Thread& thread : work_.threads) spread(thread);
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
      item.marks |= kStepRoot;
      item.layer = Layer::kStep;
      thread.has_step = true;
      roots_.items.push_back(index);
    }
  }

  void number_steps() {
    std::sort(roots_.items.begin(), roots_.items.end(), [&](std::uint32_t a, std::uint32_t b) {
      return items_[a].begin_ns != items_[b].begin_ns ? items_[a].begin_ns < items_[b].begin_ns
                                                      : a < b;
    });
    roots_.schedules = roots_.items;
    std::fill(work_.step_of.begin(), work_.step_of.end(), kNoIndex);
    steps_of_source_.resize(work_.sources.size());
    for (std::uint32_t step = 0; step < roots_.items.size(); ++step) {
      const Item& root = items_[roots_.items[step]];
      work_.step_of[roots_.items[step]] = step;
      InFlight& list = steps_of_source_[root.source];
      const std::int64_t latest = list.latest_end.empty() ? root.end_ns : list.latest_end.back();
      list.steps.push_back(step);
      list.latest_end.push_back(std::max(latest, root.end_ns));
    }
  }

  void attach_worker(const Thread& thread) {
    for (std::uint32_t at = thread.first; at < thread.first + thread.count; ++at) {
      Item& item = items_[work_.order[at]];
      if (item.parent != kNoIndex || item.kind == ItemKind::kRecord) continue;
      if (const std::uint32_t step = only_step_around(thread, item); step != kNoIndex) {
        item.parent = roots_.items[step];
        ++work_.counters.worker_ranges_in_steps;
      }
    }
  }

  // The one step of the thread's process that holds the item; kNoIndex for none or several.
  std::uint32_t only_step_around(const Thread& thread, const Item& item) {
    const InFlight& list = steps_of_source_[thread.source];
    const auto after = std::upper_bound(
        list.steps.begin(), list.steps.end(), item.begin_ns,
        [&](std::int64_t time, std::uint32_t step) { return time < root_of(step).begin_ns; });
    std::uint32_t found = kNoIndex;
    auto at = static_cast<std::size_t>(after - list.steps.begin());
    for (int tries = 0; at > 0 && tries < kMaxInFlight; ++tries) {
      --at;
      if (list.latest_end[at] < item.end_ns) break;  // no earlier step reaches that far
      const Item& root = root_of(list.steps[at]);
      if (root.end_ns < item.end_ns || pid_of(root) != thread.pid) continue;
      if (found != kNoIndex) {
        ++work_.counters.worker_ranges_ambiguous;
        return kNoIndex;
      }
      found = list.steps[at];
    }
    return found;
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

  const Item& root_of(std::uint32_t step) const { return items_[roots_.items[step]]; }
  std::int64_t pid_of(const Item& item) const { return work_.chains.tracks.pid[item.track]; }

  // Steps of one source by begin, with the latest end among those up to each.
  struct InFlight {
    std::vector<std::uint32_t> steps;
    std::vector<std::int64_t> latest_end;
  };

  Workspace& work_;
  std::vector<Item>& items_;
  StepRoots roots_;
  std::vector<InFlight> steps_of_source_;
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
