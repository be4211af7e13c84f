#include "reconstruct/worker_threads.h"

#include <utility>

#include "reconstruct/backward_steps.h"
#include "reconstruct/interval_index.h"

namespace teller {

// The steps of one process by begin. Those that never ended last until the end of the capture and
// hold whatever came after them.
struct WorkerThreads::ProcessSteps {
  IntervalIndex ended;
  IntervalIndex open;

  // The one step that holds the item; kNoIndex for none or several. A step that never ended holds
  // only what no other does, and of several such it is the one that began last: those before it
  // hang, and what runs beside them is not theirs.
  std::uint32_t only_one_around(const Item& item, bool& several) const {
    const std::size_t at = ended.last_reaching(ended.begun_by(item.begin_ns), item.end_ns);
    if (at == IntervalIndex::kNone) {
      const std::size_t last = open.last_reaching(open.begun_by(item.begin_ns), item.end_ns);
      return last == IntervalIndex::kNone ? kNoIndex : open.id(last);
    }
    if (ended.last_reaching(at, item.end_ns) == IntervalIndex::kNone) return ended.id(at);
    several = true;
    return kNoIndex;
  }
};

void WorkerThreads::attach_by_time() {
  std::map<std::pair<std::uint16_t, std::int64_t>, ProcessSteps> processes;
  for (std::uint32_t step = 0; step < roots_.items.size(); ++step) {
    const Item& root = work_.items[roots_.items[step]];
    ProcessSteps& steps = processes[{root.source, work_.chains.tracks.pid[root.track]}];
    IntervalIndex& index = (root.flags & kNodeOpen) != 0 ? steps.open : steps.ended;
    index.add(root.begin_ns, root.end_ns, step);
  }
  for (auto& [process, steps] : processes) {
    steps.ended.build();
    steps.open.build();
  }
  for (const Thread& thread : work_.threads) {
    if (!thread.worker || thread.has_step || !thread.host) continue;
    const auto found = processes.find({thread.source, thread.pid});
    if (found != processes.end()) attach(thread, found->second);
  }
}

void WorkerThreads::attach(const Thread& thread, const ProcessSteps& steps) {
  const bool flows = work_.sources[thread.source].forward_backward != 0;
  for (std::uint32_t at = thread.first; at < thread.first + thread.count; ++at) {
    Item& item = work_.items[work_.order[at]];
    if (item.parent != kNoIndex || item.kind == ItemKind::kRecord) continue;
    bool several = false;
    const std::uint32_t step = steps.only_one_around(item, several);
    if (step != kNoIndex) {
      item.parent = roots_.items[step];
      ++work_.counters.worker_ranges_in_steps;
      continue;
    }
    if (several) ++work_.counters.worker_ranges_ambiguous;
    if (!flows || item.kind != ItemKind::kRange) continue;
    undecided_[thread.source].items.push_back(work_.order[at]);
    undecided_[thread.source].several.push_back(several);
  }
}

std::set<std::uint32_t> WorkerThreads::attach_by_flows() {
  std::set<std::uint32_t> threads;
  for (const auto& [source, roots] : undecided_) {
    const std::vector<std::uint32_t> steps = steps_of_backward(work_, source, roots.items);
    for (std::size_t i = 0; i < steps.size(); ++i) {
      if (steps[i] == kNoIndex) continue;
      Item& item = work_.items[roots.items[i]];
      item.parent = roots_.items[steps[i]];
      ++work_.counters.worker_ranges_in_steps;
      ++work_.counters.worker_ranges_by_flow;
      if (roots.several[i]) --work_.counters.worker_ranges_ambiguous;
      threads.insert(work_.thread_of_track[item.track]);
    }
  }
  return threads;
}

}  // namespace teller
