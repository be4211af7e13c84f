// Where in a run a log line may belong: steps by time, and the steps of each request. Private to
// reconstruct/.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
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
      const std::uint32_t root = steps_.root[step];
      const std::int64_t pid = chains.tracks.pid[chains.nodes.track[root]];
      const std::uint32_t host = chains.sources.host[chains.nodes.source[root]];
      const std::string name(chains.strings.view(host));
      for (const Place& place : std::set<Place>{{"", pid}, {name, pid}, {name, kAnyProcess}}) {
        of_place_[place].add(steps_.begin_ns[step], steps_.end_ns[step], step);
      }
    }
    all_.build();
    for (auto& [place, steps] : of_place_) steps.build();
  }

  // The step in flight at `time`: one of process `pid` before others, then one of its host, then
  // the one that began last. `host` is "" where a line names none.
  std::uint32_t in_flight(std::int64_t time, std::int64_t pid, const std::string& host) const {
    for (const Place& place : {Place{host, pid}, Place{host, kAnyProcess}}) {
      const auto own = of_place_.find(place);
      const std::uint32_t found = own == of_place_.end() ? kNoIndex : last_at(own->second, time);
      if (found != kNoIndex) return found;
    }
    return last_at(all_, time);
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
  // Host, and process on it. Without a host: the process on any.
  using Place = std::pair<std::string, std::int64_t>;
  static constexpr std::int64_t kAnyProcess = -1;

  static std::uint32_t last_at(const IntervalIndex& steps, std::int64_t time) {
    const std::size_t at = steps.last_reaching(steps.begun_by(time), time);
    return at == IntervalIndex::kNone ? kNoIndex : steps.id(at);
  }

  const StepColumns<OwnedColumn>& steps_;
  std::vector<std::uint32_t> latest_;  // by step: the one that ends last up to it
  IntervalIndex all_;
  std::map<Place, IntervalIndex> of_place_;
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
