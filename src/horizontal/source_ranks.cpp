#include "horizontal/source_ranks.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <unordered_set>
#include <utility>

#include "base/keep_common.h"

namespace teller::horizontal_detail {

namespace {

// What a source shows of the process that wrote it.
struct Trace {
  std::set<std::int64_t> pids;                                       // of its host's threads
  std::set<std::int64_t> devices;                                    // that its kernels ran on
  std::int64_t first_ns = std::numeric_limits<std::int64_t>::max();  // of its collectives
  std::int64_t last_ns = std::numeric_limits<std::int64_t>::min();
  std::size_t collectives = 0;
  std::set<std::pair<std::string, std::int64_t>> numbers;  // group and sequence
  std::optional<std::vector<int>> candidates;              // ranks that are in all its groups
  std::size_t largest_group = 0;
};

class Resolver {
 public:
  Resolver(const Chains& chains, const std::unordered_map<std::uint32_t, NodeFacts>& facts)
      : chains_(chains), facts_(facts), traces_(chains.source_count()) {}

  SourceRanks run() {
    read_traces();
    std::map<std::int32_t, std::vector<std::uint16_t>> stated;
    for (std::size_t i = 0; i < traces_.size(); ++i) {
      const auto source = static_cast<std::uint16_t>(i);
      const std::int32_t rank = chains_.rank_of_source(source);
      found_.of.push_back({rank, true, "stated"});
      if (traces_[i].collectives > 0) stated[rank].push_back(source);
    }
    for (const auto& [rank, sources] : stated) {
      // Where some state their rank, those that state none are something else.
      const bool alone = sources.size() < 2 || (rank < 0 && stated.size() > 1);
      if (!alone && are_different(sources)) resolve(rank, sources);
    }
    return std::move(found_);
  }

 private:
  void read_traces() {
    std::unordered_set<std::uint64_t> track_seen;
    std::set<std::string> seen;  // group of a source: its list is looked at once
    for (std::uint32_t node = 0; node < chains_.node_count(); ++node) {
      Trace& trace = traces_[chains_.nodes.source[node]];
      const bool kernel = chains_.layer(node) == Layer::kKernel;
      const std::uint64_t track = chains_.nodes.track[node];
      if (track < chains_.tracks.tid.size() &&
          track_seen.insert(track * 2 + (kernel ? 1 : 0)).second) {
        if (kernel && chains_.tracks.device[track] >= 0) {
          trace.devices.insert(chains_.tracks.device[track]);
        } else if (!kernel) {
          trace.pids.insert(chains_.tracks.pid[track]);
        }
      }
      if ((chains_.nodes.flags[node] & kNodeCollective) != 0) read_collective(node, trace, seen);
    }
  }

  void read_collective(std::uint32_t node, Trace& trace, std::set<std::string>& seen) {
    const auto known = facts_.find(node);
    if (known == facts_.end()) return;
    const CollectiveFacts& facts = known->second.facts;
    ++trace.collectives;
    trace.first_ns = std::min(trace.first_ns, chains_.nodes.begin_ns[node]);
    trace.last_ns = std::max(trace.last_ns, chains_.nodes.begin_ns[node]);
    if (facts.sequence >= 0) trace.numbers.insert({facts.group, facts.sequence});
    if (facts.ranks.empty()) return;
    trace.largest_group = std::max(trace.largest_group, facts.ranks.size());
    const std::string key = std::to_string(chains_.nodes.source[node]) + " " + facts.ranks_text;
    if (seen.insert(key).second) keep_common(trace.candidates, facts.ranks);
  }

  static bool share_numbers(const Trace& a, const Trace& b) {
    const Trace& small = a.numbers.size() <= b.numbers.size() ? a : b;
    const Trace& large = &small == &a ? b : a;
    std::size_t common = 0;
    for (const auto& one : small.numbers) common += large.numbers.contains(one) ? 1 : 0;
    return common > 0 && 2 * common >= small.numbers.size();
  }

  bool same_process(std::uint16_t a, std::uint16_t b) const {
    return chains_.host_of_source(a) == chains_.host_of_source(b) &&
           traces_[a].pids == traces_[b].pids;
  }

  // Two recordings of one process lie one after the other; ranks of a job side by side, and their
  // collectives have the same numbers even where clocks lie far apart.
  bool are_different(std::vector<std::uint16_t> sources) const {
    std::sort(sources.begin(), sources.end(), [this](std::uint16_t a, std::uint16_t b) {
      return std::pair(traces_[a].first_ns, a) < std::pair(traces_[b].first_ns, b);
    });
    for (std::size_t i = 0; i + 1 < sources.size(); ++i) {
      const Trace& one = traces_[sources[i]];
      const Trace& next = traces_[sources[i + 1]];
      if (next.first_ns < one.last_ns) return true;
      if (!same_process(sources[i], sources[i + 1]) && share_numbers(one, next)) return true;
    }
    return false;
  }

  void resolve(std::int32_t stated, const std::vector<std::uint16_t>& sources) {
    SharedRank shared;
    shared.stated = stated;
    shared.sources = sources;
    for (std::size_t i = 0; i < found_.of.size(); ++i) {
      if (found_.of[i].rank == stated) found_.of[i] = {-1, true, ""};
    }
    std::vector<int> numbers = by_groups(sources);
    shared.by = "process groups";
    if (numbers.empty()) {
      numbers = by_devices(sources);
      shared.by = "device numbers";
    }
    shared.apart = !numbers.empty();
    if (numbers.empty()) {
      shared.apart = are_processes(sources);
      shared.by = shared.apart ? "processes" : "";
    }
    for (std::size_t i = 0; i < sources.size() && shared.apart; ++i) {
      const bool numbered = !numbers.empty();
      const std::int32_t rank = numbered ? numbers[i] : kFirstStandIn + sources[i];
      found_.of[sources[i]] = {rank, numbered, shared.by};
    }
    found_.shared.push_back(std::move(shared));
  }

  // The rank of each, where one alone is in all its groups; what one is, the others are not.
  std::vector<int> by_groups(const std::vector<std::uint16_t>& sources) const {
    std::vector<int> numbers(sources.size(), -1);
    std::set<int> given;
    for (bool again = true; again;) {
      again = false;
      for (std::size_t i = 0; i < sources.size(); ++i) {
        const auto& candidates = traces_[sources[i]].candidates;
        if (numbers[i] >= 0 || !candidates) continue;
        std::vector<int> left;
        for (const int rank : *candidates) {
          if (!given.contains(rank)) left.push_back(rank);
        }
        if (left.size() != 1) continue;
        numbers[i] = left[0];
        given.insert(left[0]);
        again = true;
      }
    }
    const bool all = std::none_of(numbers.begin(), numbers.end(), [](int n) { return n < 0; });
    return all && is_free(numbers) ? numbers : std::vector<int>();
  }

  // On one host launchers give local rank n device n; only where all ranks of the job are here.
  std::vector<int> by_devices(const std::vector<std::uint16_t>& sources) const {
    std::vector<int> numbers;
    for (const std::uint16_t source : sources) {
      const Trace& trace = traces_[source];
      const bool alone = trace.devices.size() == 1 &&
                         chains_.host_of_source(source) == chains_.host_of_source(sources[0]);
      if (!alone || trace.largest_group > sources.size()) return {};
      numbers.push_back(static_cast<int>(*trace.devices.begin()));
    }
    const int most = *std::max_element(numbers.begin(), numbers.end());
    const bool dense = static_cast<std::size_t>(most) + 1 == numbers.size();
    return dense && is_free(numbers) ? numbers : std::vector<int>();
  }

  // Each once, and none that another source states.
  bool is_free(const std::vector<int>& numbers) const {
    std::set<int> seen;
    for (const int number : numbers) {
      if (!seen.insert(number).second) return false;
    }
    return std::none_of(found_.of.begin(), found_.of.end(), [&](const SourceRank& one) {
      return one.rank >= 0 && seen.contains(one.rank);
    });
  }

  // Whether each is a process of its own: another host or another number of the process.
  bool are_processes(const std::vector<std::uint16_t>& sources) const {
    std::set<std::pair<std::string, std::set<std::int64_t>>> seen;
    for (const std::uint16_t source : sources) {
      const std::string host(chains_.host_of_source(source));
      if (!seen.insert({host, traces_[source].pids}).second) return false;
    }
    return true;
  }

  const Chains& chains_;
  const std::unordered_map<std::uint32_t, NodeFacts>& facts_;
  std::vector<Trace> traces_;
  SourceRanks found_;
};

}  // namespace

SourceRanks find_source_ranks(const Chains& chains,
                              const std::unordered_map<std::uint32_t, NodeFacts>& facts) {
  return Resolver(chains, facts).run();
}

}  // namespace teller::horizontal_detail
