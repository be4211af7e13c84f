#include "horizontal/node_facts.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "run_folder/run_clock.h"

namespace teller::horizontal_detail {

namespace {

using Json = nlohmann::ordered_json;
using FactMap = std::unordered_map<std::uint32_t, NodeFacts>;

// A collective node waits here for its event: same source, begin and name.
struct Wanted {
  std::int64_t begin_ns = 0;
  std::size_t name = 0;  // hash
  std::uint32_t node = 0;
  bool operator<(const Wanted& other) const {
    return begin_ns != other.begin_ns ? begin_ns < other.begin_ns
           : name != other.name       ? name < other.name
                                      : node < other.node;
  }
};

using WantedLists = std::vector<std::vector<Wanted>>;  // by source, sorted

WantedLists wanted_nodes(const Chains& chains) {
  WantedLists lists(chains.source_count());
  for (std::uint32_t node = 0; node < chains.node_count(); ++node) {
    if ((chains.nodes.flags[node] & kNodeCollective) == 0) continue;
    const std::uint16_t source = chains.nodes.source[node];
    if (source >= lists.size()) continue;
    const std::size_t name = std::hash<std::string_view>{}(chains.string(chains.nodes.name[node]));
    lists[source].push_back({chains.nodes.begin_ns[node], name, node});
  }
  for (auto& list : lists) std::sort(list.begin(), list.end());
  return lists;
}

class SourceReader {
 public:
  SourceReader(const Chains& chains, const EventFile& file, std::int64_t shift_ns, FactMap& facts)
      : chains_(chains), file_(file), shift_ns_(shift_ns), facts_(facts) {}

  void read(const std::vector<Wanted>& wanted) {
    if (wanted.empty()) return;
    std::vector<bool> taken(wanted.size(), false);
    for (const auto block : file_.blocks()) {
      for (const EventRecord& event : block) take(event, wanted, taken);
    }
  }

 private:
  void take(const EventRecord& event, const std::vector<Wanted>& wanted, std::vector<bool>& taken) {
    std::int64_t begin = 0;
    if (__builtin_add_overflow(event.begin_ns, shift_ns_, &begin)) return;
    auto at = std::lower_bound(wanted.begin(), wanted.end(), Wanted{begin, 0, 0});
    if (at == wanted.end() || at->begin_ns != begin) return;
    const std::size_t name = std::hash<std::string_view>{}(file_.string(event.name));
    for (; at != wanted.end() && at->begin_ns == begin; ++at) {
      const auto index = static_cast<std::size_t>(at - wanted.begin());
      if (at->name != name || taken[index]) continue;
      taken[index] = true;
      return keep(event, at->node);
    }
  }

  void keep(const EventRecord& event, std::uint32_t node) {
    NodeFacts& known = facts_[node];
    known.facts = read_facts(file_.string(event.name), file_.string(event.attrs));
    std::int64_t end = 0;
    const bool ended = event.kind != static_cast<std::uint16_t>(EventKind::kRangePush) &&
                       event.kind != static_cast<std::uint16_t>(EventKind::kRangeStart) &&
                       event.end_ns != kOpenNs;
    if (!ended || __builtin_add_overflow(event.end_ns, shift_ns_, &end)) return;
    known.end_ns = std::clamp(end, chains_.nodes.begin_ns[node], kTimeLimitNs);
  }

  const Chains& chains_;
  const EventFile& file_;
  std::int64_t shift_ns_;
  FactMap& facts_;
};

}  // namespace

Result<FactMap> read_node_facts(const RunFolder& run, const Chains& chains) {
  const WantedLists wanted = wanted_nodes(chains);
  FactMap facts;
  for (const auto& list : wanted) {
    for (const Wanted& one : list) {
      const std::string_view name = chains.string(chains.nodes.name[one.node]);
      facts[one.node] = {read_facts(name, ""), chains.nodes.end_ns[one.node]};
    }
  }
  const std::vector<std::string> paths = run.artifact_files("events");
  std::vector<SourceClock> clocks;
  for (const std::string& path : paths) {
    TELLER_TRY(const EventFile file, EventFile::open(run.file(path)));
    clocks.push_back(read_clock(Json::parse(file.meta_json(), nullptr, false)));
  }
  const std::vector<std::int64_t> shifts = shifts_to_run(read_clock(run.manifest()), clocks);
  for (std::size_t i = 0; i < std::min(paths.size(), wanted.size()); ++i) {
    if (wanted[i].empty()) continue;
    TELLER_TRY(const EventFile file, EventFile::open(run.file(paths[i])));
    SourceReader(chains, file, shifts[i], facts).read(wanted[i]);
  }
  return facts;
}

}  // namespace teller::horizontal_detail
