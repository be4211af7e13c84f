#include "horizontal/flight_job.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <numeric>
#include <string_view>

namespace teller::flight {

namespace {

// How PyTorch describes the group of all ranks.
constexpr std::string_view kDefaultGroup = "default_pg";

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
    if (!entry.contradiction.empty()) continue;
    newest = std::max({newest, entry.created_ns, entry.completed_ns.value_or(0)});
  }
  return newest;
}

// Joins operations that were launched as one to the entry "coalesced" that follows them: it has
// their state, for they have none of their own. One that nothing precedes stands for itself.
void join_batches(Node& node) {
  std::map<std::size_t, std::vector<std::size_t>> of_group;  // operations since the last wrapper
  for (std::size_t i = 0; i < node.operations.size(); ++i) {
    Operation& wrapper = node.operations[i];
    std::vector<std::size_t>& before = of_group[wrapper.group];
    if (!wrapper.wrapper) {
      before.push_back(i);
      continue;
    }
    std::size_t joined = 0;
    for (auto k = before.rbegin(); k != before.rend(); ++k, ++joined) {
      Operation& one = node.operations[*k];
      const bool same = wrapper.entry.p2p ? one.entry.p2p_seq == wrapper.entry.p2p_seq
                                          : one.entry.seq == wrapper.entry.seq;
      if (!same || one.completed) break;
      one.batch = i;
      one.completed = wrapper.completed;
      one.started = wrapper.started;
      one.doubtful = one.doubtful || wrapper.doubtful;
    }
    before.clear();
    if (joined > 0 || wrapper.entry.p2p) continue;
    wrapper.wrapper = false;
    wrapper.collective = wrapper.entry.seq >= 0;
  }
}

// Finds a node's operations by what they are.
void index_operations(Node& node) {
  node.place.assign(node.operations.size(), kNone);
  std::map<std::size_t, std::size_t> first_of_batch;
  for (std::size_t i = 0; i < node.operations.size(); ++i) {
    const Operation& operation = node.operations[i];
    const FlightEntry& entry = operation.entry;
    if (!operation.completed && !operation.wrapper && !operation.doubtful) {
      const std::size_t place = node.pending.size();
      node.pending.push_back(i);
      node.place[i] = operation.batch == kNone
                          ? place
                          : first_of_batch.emplace(operation.batch, place).first->second;
    }
    if (entry.seq >= 0) {
      Node::Last& last = node.last_seq[operation.group];
      if (entry.seq >= last.seq) last = {entry.seq, std::max(last.record_id, entry.record_id)};
    } else if (!entry.p2p) {
      node.holes[operation.group].push_back(entry.record_id);
    }
    if (operation.collective) node.collectives.emplace(std::pair{operation.group, entry.seq}, i);
  }
}

class JobMaker {
 public:
  Job make(std::vector<Dump> dumps) {
    dumps_ = std::move(dumps);
    complete_groups(dumps_);
    job_.dumps = dumps_.size();
    place_dumps();
    for (std::size_t i = 0; i < used_.size(); ++i) fill(dumps_[used_[i]], job_.nodes[i]);
    add_absent_ranks();
    add_members();
    name_peers();
    for (Node& node : job_.nodes) index_transfers(node);
    read_statuses(job_);
    find_outdated(job_);
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
      job_.dumps_of_unknown_version += dumps_[i].version_known ? 0 : 1;
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

  // Names of groups are of a process: two groups of one name and other ranks are two. `known` are
  // those of the dump that were asked for before: lists of ranks are long.
  using Known = std::map<std::string, std::size_t>;
  std::size_t group_of(const Dump& dump, const std::string& name, const std::string& description,
                       Known& known) {
    const auto before = known.find(name);
    if (before != known.end()) return before->second;
    return known[name] = find_group(dump, name, description);
  }

  std::size_t find_group(const Dump& dump, const std::string& name,
                         const std::string& description) {
    const auto config = dump.config.find(name);
    std::vector<int> ranks;
    if (config != dump.config.end()) ranks = config->second.ranks;
    const auto [found, is_new] = groups_.emplace(std::pair{name, ranks}, job_.groups.size());
    if (is_new) {
      const bool described = config != dump.config.end();
      job_.groups.push_back(
          {name, described ? config->second.description : description, ranks, {}, {}, false});
    }
    return found->second;
  }

  void fill(Dump& dump, Node& node) {
    node.rank = dump.rank;
    node.has_dump = true;
    node.source = dump.source;
    node.rank_from = dump.rank_from;
    node.holes[kNone] = dump.holes;
    const auto names = names_of_ids(dump);
    Known known;
    for (const auto& [name, config] : dump.config) {
      group_of(dump, name, config.description, known);
    }
    for (FlightEntry& entry : dump.entries) {
      Operation operation;
      operation.group = group_of(dump, entry.group, entry.description, known);
      operation.entry = std::move(entry);
      describe(operation);
      node.operations.push_back(std::move(operation));
    }
    for (const auto& [id, progress] : dump.status) {
      const auto name = names.find(id);
      if (name == names.end()) {
        node.progress_unnamed[id] = progress;
      } else {
        node.status[group_of(dump, name->second, "", known)] = progress;
      }
    }
    for (const auto& [name, group] : known) node.groups.insert(group);
    join_batches(node);
    index_operations(node);
  }

  void describe(Operation& operation) {
    const FlightEntry& entry = operation.entry;
    const std::string name = flight_operation(entry.name);
    operation.wrapper = name == "coalesced";
    operation.completed = entry.state == FlightState::kCompleted || entry.completed_ns.has_value();
    operation.started = entry.state == FlightState::kStarted || entry.started_ns.has_value();
    operation.doubtful = !entry.contradiction.empty() || entry.state == FlightState::kUnknown;
    note_oddities(entry, operation.doubtful);
    const auto peers = flight_peers(entry.name);
    if (peers) operation.send = peers->send;
    operation.collective = !peers && !entry.p2p && !operation.wrapper && entry.seq >= 0;
    // Each entry counts the transfers of its group.
    if (peers || entry.p2p || entry.p2p_seq > 0) job_.groups[operation.group].has_p2p = true;
  }

  void note_oddities(const FlightEntry& entry, bool doubtful) {
    job_.fields_unread += entry.unread.size();
    if (!doubtful && entry.unread.empty()) return;
    if (job_.entries_contradictory++ > 0) return;
    job_.first_contradictory = entry.name + " of group " + entry.group + ": " +
                               (!entry.contradiction.empty() ? entry.contradiction
                                : doubtful                   ? "its state is " + entry.state_text
                                           : entry.unread.front() + " is not of its type");
  }

  // With dumps of unknown rank it is not known which ranks are absent, but how many.
  void add_absent_ranks() {
    std::vector<int> all;
    for (const Group& group : job_.groups) {
      all.insert(all.end(), group.ranks.begin(), group.ranks.end());
    }
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    if (job_.dumps_unplaced > 0) {
      job_.absent_unnamed = all.size() > used_.size() ? all.size() - used_.size() : 0;
      if (job_.absent_unnamed > 0) job_.nodes.emplace_back();
      return;
    }
    job_.nodes.reserve(job_.nodes.size() + all.size());
    for (const int rank : all) {
      if (job_.node_of_rank.contains(rank)) continue;
      job_.ranks_without_dump.push_back(rank);
      job_.node_of_rank[rank] = job_.nodes.size();
      job_.nodes.emplace_back().rank = rank;
    }
  }

  void add_members() {
    for (Group& group : job_.groups) {
      for (const int rank : group.ranks) {
        const auto node = job_.node_of_rank.find(rank);
        if (node != job_.node_of_rank.end()) group.members.push_back(node->second);
      }
    }
    // Dumps without a rank, and groups without a list of ranks: who names the group is in it.
    for (std::size_t i = 0; i < used_.size(); ++i) {
      for (const std::size_t index : job_.nodes[i].groups) {
        Group& group = job_.groups[index];
        if (!job_.nodes[i].rank || group.ranks.empty()) group.members.push_back(i);
      }
    }
    for (Group& group : job_.groups) {
      if (!group.ranks.empty() || group.description != kDefaultGroup) continue;
      group.members.resize(used_.size());
      std::iota(group.members.begin(), group.members.end(), std::size_t{0});
    }
    for (Group& group : job_.groups) {
      for (const std::size_t member : group.members) {
        if (job_.nodes[member].has_dump) group.present.push_back(member);
      }
      if (job_.absent_unnamed > 0 && group.ranks.size() > group.members.size()) {
        group.members.push_back(job_.nodes.size() - 1);
      }
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
