#include "reconstruct/worker_join.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "reconstruct/item_order.h"

namespace teller {

namespace {

// Ranges of the hooks: what the engine asks of its workers, and what a worker does then.
struct CallName {
  std::string_view call;
  std::string_view work;
};
constexpr std::array<CallName, 2> kCallNames = {{
    {"executor.execute_model", "worker.execute_model"},
    {"executor.sample_tokens", "worker.sample_tokens"},
}};

// The ranges of one process by kind of call, as items in the order of their begins.
using Ranges = std::array<std::vector<std::uint32_t>, kCallNames.size()>;

struct ProcessRanges {
  Ranges calls;  // in steps
  Ranges works;  // on threads without steps, with nothing around them
  bool any_call() const {
    return std::any_of(calls.begin(), calls.end(), [](const auto& list) { return !list.empty(); });
  }
};

class WorkerJoin {
 public:
  WorkerJoin(Workspace& work, const StepRoots& steps) : work_(work), steps_(steps) {}

  std::vector<std::uint32_t> join() {
    for (std::uint16_t source = 0; source < work_.sources.size(); ++source) find_names(source);
    for (std::uint32_t thread = 0; thread < work_.threads.size(); ++thread) collect(thread);
    for (auto& [source, ranges] : ranges_) {
      for (std::size_t kind = 0; kind < kCallNames.size(); ++kind) {
        sort_by_begin(ranges.calls[kind]);
        sort_by_begin(ranges.works[kind]);
      }
    }
    for (const auto& [source, ranges] : ranges_) {
      const ProcessRanges* engine = engine_of(source);
      for (std::size_t kind = 0; kind < kCallNames.size(); ++kind) {
        if (engine == nullptr) {
          work_.counters.worker_calls_unjoined += ranges.works[kind].size();
        } else {
          hang(engine->calls[kind], ranges.works[kind]);
        }
      }
    }
    return {threads_.begin(), threads_.end()};
  }

 private:
  struct Names {
    std::array<StringId, kCallNames.size()> calls{};
    std::array<StringId, kCallNames.size()> works{};
    bool any = false;
  };

  void find_names(std::uint16_t source) {
    const Source& from = work_.sources[source];
    Names& names = names_.emplace_back();
    if (from.dialect != "capture") return;
    for (StringId id = 1; id < from.file.string_count(); ++id) {
      const std::string_view text = from.file.string(id);
      for (std::size_t kind = 0; kind < kCallNames.size(); ++kind) {
        if (text == kCallNames[kind].call) names.calls[kind] = id;
        if (text == kCallNames[kind].work) names.works[kind] = id;
        names.any = names.any || names.calls[kind] == id || names.works[kind] == id;
      }
    }
  }

  void collect(std::uint32_t thread_index) {
    const Thread& thread = work_.threads[thread_index];
    const Names& names = names_[thread.source];
    if (!names.any) return;
    for (std::uint32_t at = thread.first; at < thread.first + thread.count; ++at) {
      const std::uint32_t index = work_.order[at];
      const Item& item = work_.items[index];
      if (item.kind != ItemKind::kRange || item.event->name == 0) continue;
      for (std::size_t kind = 0; kind < kCallNames.size(); ++kind) {
        const bool in_step = work_.step_of[index] != kNoIndex;
        if (item.event->name == names.calls[kind] && in_step) {
          ranges_[thread.source].calls[kind].push_back(index);
        } else if (item.event->name == names.works[kind] && !in_step && item.parent == kNoIndex) {
          ranges_[thread.source].works[kind].push_back(index);
        }
      }
    }
  }

  void sort_by_begin(std::vector<std::uint32_t>& list) const {
    std::sort(list.begin(), list.end(), BeginOrder{work_});
  }

  // The parent process if it calls workers, else the only one of the host that does (workers may
  // come from a fork server). Where events were lost the order tells nothing.
  const ProcessRanges* engine_of(std::uint16_t worker) const {
    const Source& of = work_.sources[worker];
    const ProcessRanges* only = nullptr;
    std::size_t count = 0;
    for (const auto& [source, ranges] : ranges_) {
      const Source& other = work_.sources[source];
      const auto& hosts = work_.chains.sources.host;
      if (source == worker || !ranges.any_call() || hosts[source] != hosts[worker]) continue;
      if (other.pid == of.parent_pid) return of.lossy || other.lossy ? nullptr : &ranges;
      only = &ranges;
      ++count;
      if (other.lossy) count += 2;
    }
    return count == 1 && !of.lossy ? only : nullptr;
  }

  std::vector<std::int64_t> begins(const std::vector<std::uint32_t>& items) const {
    std::vector<std::int64_t> times;
    for (const std::uint32_t item : items) times.push_back(work_.items[item].begin_ns);
    return times;
  }

  void hang(const std::vector<std::uint32_t>& calls, const std::vector<std::uint32_t>& works) {
    const std::vector<std::uint32_t> served = calls_of_works(begins(calls), begins(works));
    for (std::size_t i = 0; i < works.size(); ++i) {
      if (served[i] == kNoIndex) {
        ++work_.counters.worker_calls_unjoined;
        continue;
      }
      Item& item = work_.items[works[i]];
      item.parent = steps_.items[work_.step_of[calls[served[i]]]];
      threads_.insert(work_.thread_of_track[item.track]);
      ++work_.counters.worker_calls_in_steps;
    }
  }

  Workspace& work_;
  const StepRoots& steps_;
  std::vector<Names> names_;                       // by source
  std::map<std::uint16_t, ProcessRanges> ranges_;  // by source
  std::set<std::uint32_t> threads_;
};

}  // namespace

std::vector<std::uint32_t> calls_of_works(const std::vector<std::int64_t>& calls,
                                          const std::vector<std::int64_t>& works) {
  std::vector<std::uint32_t> served(works.size(), kNoIndex);
  const auto most = static_cast<std::int64_t>(calls.size());
  std::int64_t distance = most;
  for (std::size_t i = 0; i < works.size(); ++i) {
    const auto begun = std::upper_bound(calls.begin(), calls.end(), works[i]) - calls.begin();
    // Works whose calls lie before the recording of the engine say nothing.
    if (begun > 0) distance = std::min(distance, begun - 1 - static_cast<std::int64_t>(i));
  }
  // Any other distance is but a bound: calls may always be made ahead, or the recordings begin
  // apart.
  if (distance != 0) return served;
  for (std::size_t i = 0; i < works.size() && i < calls.size(); ++i) {
    served[i] = static_cast<std::uint32_t>(i);
  }
  return served;
}

std::vector<std::uint32_t> join_worker_processes(Workspace& work, const StepRoots& steps) {
  return WorkerJoin(work, steps).join();
}

}  // namespace teller
