#include "horizontal/flight_job.h"

#include <algorithm>
#include <charconv>
#include <iterator>

namespace teller::flight {

namespace {

// A name that is a plain number, as PyTorch gives groups their names in the order of their making.
std::optional<std::int64_t> group_number(const std::string& name) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  const bool whole = error == std::errc() && end == name.data() + name.size();
  return whole ? std::optional(number) : std::nullopt;
}

// pg_status names groups by a number of the process, pg_config by name. Entries have both. Where a
// group has no entry, the two lists are laid side by side: both count groups in the order in which
// they were made. Nothing is laid where lists differ in length, or an entry contradicts.
std::map<std::int64_t, std::string> names_of_ids(const Dump& dump) {
  std::map<std::int64_t, std::string> names;
  for (const FlightEntry& entry : dump.entries) {
    if (entry.pg_id >= 0) names[entry.pg_id] = entry.group;
  }
  std::map<std::int64_t, std::string> in_order;
  for (const auto& [name, config] : dump.config) {
    const auto number = group_number(name);
    if (!number) return names;
    in_order[*number] = name;
  }
  if (in_order.size() != dump.status.size()) return names;
  std::map<std::int64_t, std::string> laid;
  auto name = in_order.begin();
  for (const auto& [id, progress] : dump.status) laid[id] = (name++)->second;
  for (const auto& [id, known] : names) {
    const auto found = laid.find(id);
    if (found == laid.end() || found->second != known) return names;
  }
  return laid;
}

std::int64_t newest_ns(const Dump& dump) {
  std::int64_t newest = 0;
  for (const FlightEntry& entry : dump.entries) {
    newest = std::max({newest, entry.created_ns, entry.completed_ns.value_or(0)});
  }
  return newest;
}

class JobMaker {
 public:
  Job make(std::vector<Dump> dumps) {
    dumps_ = std::move(dumps);
    job_.dumps = dumps_.size();
    place_dumps();
    for (std::size_t i = 0; i < used_.size(); ++i) fill(dumps_[used_[i]], job_.nodes[i]);
    add_absent_ranks();
    for (std::size_t group = 0; group < job_.groups.size(); ++group) add_members(group);
    name_peers();
    return std::move(job_);
  }

 private:
  // One node per dump, in the order of ranks, so that the order of files is nothing.
  void place_dumps() {
    std::map<int, std::size_t> newest;
    std::vector<std::size_t> unplaced;
    for (std::size_t i = 0; i < dumps_.size(); ++i) {
      job_.entries += dumps_[i].entries.size();
      job_.entries_unread += dumps_[i].unread;
      if (!dumps_[i].rank) {
        unplaced.push_back(i);
        continue;
      }
      const auto [found, is_new] = newest.emplace(*dumps_[i].rank, i);
      if (is_new) continue;
      ++job_.dumps_superseded;
      if (newest_ns(dumps_[i]) > newest_ns(dumps_[found->second])) found->second = i;
    }
    for (const auto& [rank, index] : newest) {
      job_.node_of_rank[rank] = used_.size();
      used_.push_back(index);
    }
    std::sort(unplaced.begin(), unplaced.end(),
              [&](std::size_t a, std::size_t b) { return dumps_[a].source < dumps_[b].source; });
    job_.dumps_unplaced = unplaced.size();
    used_.insert(used_.end(), unplaced.begin(), unplaced.end());
    job_.nodes.resize(used_.size());
  }

  // Names of groups are of a process: two groups of one name and other ranks are two.
  std::size_t group_of(const Dump& dump, const std::string& name, const std::string& description) {
    const auto config = dump.config.find(name);
    std::vector<int> ranks;
    if (config != dump.config.end()) ranks = config->second.ranks;
    const auto [found, is_new] = groups_.emplace(std::pair{name, ranks}, job_.groups.size());
    if (is_new) {
      const bool described = config != dump.config.end();
      job_.groups.push_back(
          {name, described ? config->second.description : description, ranks, {}, false});
    }
    return found->second;
  }

  void fill(Dump& dump, Node& node) {
    node.rank = dump.rank;
    node.has_dump = true;
    node.source = dump.source;
    node.rank_from = dump.rank_from;
    const auto names = names_of_ids(dump);
    for (const auto& [name, config] : dump.config) group_of(dump, name, config.description);
    for (FlightEntry& entry : dump.entries) {
      Operation operation;
      operation.group = group_of(dump, entry.group, entry.description);
      operation.entry = std::move(entry);
      describe(operation);
      node.operations.push_back(std::move(operation));
    }
    for (const auto& [id, progress] : dump.status) {
      const auto name = names.find(id);
      if (name != names.end()) node.progress[group_of(dump, name->second, "")] = progress;
    }
    join_batches(node);
    index(node);
  }

  void describe(Operation& operation) {
    const FlightEntry& entry = operation.entry;
    const std::string name = flight_operation(entry.name);
    operation.wrapper = name == "coalesced";
    operation.completed = entry.state == FlightState::kCompleted || entry.completed_ns.has_value();
    operation.started = entry.state == FlightState::kStarted || entry.started_ns.has_value();
    const auto peers = flight_peers(entry.name);
    if (peers) operation.send = peers->send;
    operation.collective = !peers && !entry.p2p && !operation.wrapper && entry.seq >= 0;
    if (peers || entry.p2p) job_.groups[operation.group].has_p2p = true;
  }

  // Operations that were launched as one have no state of their own: the entry "coalesced" that
  // follows them has it.
  static void join_batches(Node& node) {
    for (std::size_t i = 0; i < node.operations.size(); ++i) {
      const Operation& wrapper = node.operations[i];
      if (!wrapper.wrapper) continue;
      for (std::size_t k = i; k-- > 0;) {
        Operation& one = node.operations[k];
        if (one.group != wrapper.group) continue;
        const bool same = wrapper.entry.p2p ? one.entry.p2p_seq == wrapper.entry.p2p_seq
                                            : one.entry.seq == wrapper.entry.seq;
        if (!same || one.wrapper || one.completed) break;
        one.batch = i;
        one.completed = wrapper.completed;
        one.started = wrapper.started;
      }
    }
  }

  static void index(Node& node) {
    for (std::size_t i = 0; i < node.operations.size(); ++i) {
      const Operation& operation = node.operations[i];
      if (!operation.completed && !operation.wrapper) node.pending.push_back(i);
      if (operation.entry.seq >= 0) {
        const auto last = node.last_seq.emplace(operation.group, operation.entry.seq).first;
        last->second = std::max(last->second, operation.entry.seq);
      }
      if (operation.collective) {
        node.collectives.emplace(std::pair{operation.group, operation.entry.seq}, i);
      }
    }
  }

  // With dumps of unknown rank, which ranks are absent is unknown too.
  void add_absent_ranks() {
    if (job_.dumps_unplaced > 0) return;
    std::set<int> all;
    for (const Group& group : job_.groups) all.insert(group.ranks.begin(), group.ranks.end());
    for (const int rank : all) {
      if (job_.node_of_rank.contains(rank)) continue;
      job_.ranks_without_dump.push_back(rank);
      job_.node_of_rank[rank] = job_.nodes.size();
      Node& node = job_.nodes.emplace_back();
      node.rank = rank;
    }
  }

  void add_members(std::size_t index) {
    Group& group = job_.groups[index];
    for (const int rank : group.ranks) {
      const auto node = job_.node_of_rank.find(rank);
      if (node != job_.node_of_rank.end()) group.members.push_back(node->second);
    }
    // Dumps without a rank, and groups without a list of ranks: who has operations in it is in it.
    for (std::size_t i = 0; i < used_.size(); ++i) {
      const Node& node = job_.nodes[i];
      if (node.rank && !group.ranks.empty()) continue;
      const auto config = dumps_[used_[i]].config.find(group.name);
      bool in = config != dumps_[used_[i]].config.end() && config->second.ranks == group.ranks;
      for (const Operation& operation : node.operations) in = in || operation.group == index;
      if (in) group.members.push_back(i);
    }
  }

  void name_peers() {
    for (Node& node : job_.nodes) {
      for (Operation& operation : node.operations) {
        const auto peers = flight_peers(operation.entry.name);
        const std::vector<int>& ranks = job_.groups[operation.group].ranks;
        if (!peers || static_cast<std::size_t>(peers->other) >= ranks.size()) continue;
        operation.other = ranks[static_cast<std::size_t>(peers->other)];
      }
    }
  }

  std::vector<Dump> dumps_;
  std::vector<std::size_t> used_;  // dump of each node
  std::map<std::pair<std::string, std::vector<int>>, std::size_t> groups_;
  Job job_;
};

}  // namespace

Job make_job(std::vector<Dump> dumps) {
  return JobMaker().make(std::move(dumps));
}

}  // namespace teller::flight
