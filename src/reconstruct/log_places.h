// Where in a run a log line may belong: steps by time, and the steps of each request. Private to
// reconstruct/.
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "reconstruct/interval_index.h"
#include "run_folder/chains.h"

namespace teller {

// The steps of a run by time.
class StepTimes {
 public:
  explicit StepTimes(const ChainsBuilder& chains) : steps_(chains.steps) {
    for (std::uint32_t step = 0; step < steps_.begin_ns.size(); ++step) {
      const bool later = latest_.empty() || steps_.end_ns[step] >= steps_.end_ns[latest_.back()];
      latest_.push_back(later ? step : latest_.back());
      all_.add(steps_.begin_ns[step], steps_.end_ns[step], step);
      const std::int64_t pid = chains.tracks.pid[chains.nodes.track[steps_.root[step]]];
      of_process_[pid].add(steps_.begin_ns[step], steps_.end_ns[step], step);
    }
    all_.build();
    for (auto& [pid, steps] : of_process_) steps.build();
  }

  // The step in flight at `time`: one of process `pid` before others, then the one that began last.
  std::uint32_t in_flight(std::int64_t time, std::int64_t pid) const {
    const auto own = of_process_.find(pid);
    const std::uint32_t found = own == of_process_.end() ? kNoIndex : last_at(own->second, time);
    return found != kNoIndex ? found : last_at(all_, time);
  }

  std::uint32_t nearest(std::int64_t time, std::int64_t window) const {
    const std::size_t after = all_.begun_by(time);
    std::uint32_t found = kNoIndex;
    if (after > 0 && time - steps_.end_ns[latest_[after - 1]] <= window) {
      found = latest_[after - 1];
      window = time - steps_.end_ns[found];
    }
    if (after < latest_.size() && steps_.begin_ns[after] - time < window) {
      found = static_cast<std::uint32_t>(after);
    }
    return found;
  }

 private:
  static std::uint32_t last_at(const IntervalIndex& steps, std::int64_t time) {
    const std::size_t at = steps.last_reaching(steps.begun_by(time), time);
    return at == IntervalIndex::kNone ? kNoIndex : steps.id(at);
  }

  const StepColumns<OwnedColumn>& steps_;
  std::vector<std::uint32_t> latest_;  // by step: the one that ends last up to it
  IntervalIndex all_;
  std::unordered_map<std::int64_t, IntervalIndex> of_process_;
};

// The steps of each request, in time order.
class RequestSteps {
 public:
  explicit RequestSteps(const ChainsBuilder& chains) : steps_(chains.steps) {
    const auto& rows = chains.rows;
    first_.assign(chains.requests.id.size() + 2, 0);
    for (const std::uint32_t request : rows.request) ++first_[request + 2];
    for (std::size_t i = 2; i < first_.size(); ++i) first_[i] += first_[i - 1];
    list_.resize(rows.step.size());
    for (std::size_t row = 0; row < rows.step.size(); ++row) {
      list_[first_[rows.request[row] + 1]++] = rows.step[row];
    }
  }

  // The request's step in flight at `time`, else its nearest; its last one for a line without time.
  std::uint32_t at(std::uint32_t request, std::int64_t time) const {
    if (request + 1 >= first_.size()) return kNoIndex;
    const auto begin = list_.begin() + first_[request];
    const auto end = list_.begin() + first_[request + 1];
    if (begin == end) return kNoIndex;
    if (time < 0) return *(end - 1);
    const auto after = std::upper_bound(begin, end, time, [&](std::int64_t t, std::uint32_t step) {
      return t < steps_.begin_ns[step];
    });
    if (after == begin) return *begin;
    const std::uint32_t before = *(after - 1);
    const bool next_nearer = after != end && time > steps_.end_ns[before] &&
                             steps_.begin_ns[*after] - time < time - steps_.end_ns[before];
    return next_nearer ? *after : before;
  }

 private:
  const StepColumns<OwnedColumn>& steps_;
  std::vector<std::size_t> first_;
  std::vector<std::uint32_t> list_;
};

}  // namespace teller
