// Dumps that were written before their peers went on: what such a dump lacks says nothing of its
// rank.
#include <algorithm>
#include <optional>

#include "horizontal/flight_waits.h"

namespace teller::flight {

namespace {

constexpr std::string_view kMutual[] = {"all_reduce", "all_gather", "reduce_scatter",
                                        "all_to_all", "barrier",    "allreduce",
                                        "allgather",  "alltoall",   "reducescatter"};

// The furthest collective of a group that a member has completed, and that needs all its members.
struct Furthest {
  std::int64_t seq = -1;
  std::size_t node = kNone;
};

// What the entries of all dumps show a group to be used for.
struct Use {
  bool mutual = false, other = false;
};

class OutdatedFinder {
 public:
  explicit OutdatedFinder(Job& job)
      : job_(job), furthest_(job.groups.size()), use_(job.groups.size()) {}

  void find() {
    for (std::size_t i = 0; i < job_.nodes.size(); ++i) read_entries(i);
    for (std::size_t i = 0; i < job_.nodes.size(); ++i) reach_by_status(i);
    for (std::size_t group = 0; group < job_.groups.size(); ++group) judge(group);
    for (std::size_t i = 0; i < job_.nodes.size(); ++i) judge_receives(i);
  }

 private:
  void read_entries(std::size_t index) {
    for (const Operation& one : job_.nodes[index].operations) {
      if (!one.collective) continue;
      const bool mutual = is_mutual(one);
      (mutual ? use_[one.group].mutual : use_[one.group].other) = true;
      if (mutual && one.completed && !one.doubtful) reach(one.group, one.entry.seq, index);
    }
  }

  // Without an entry it is not known what was completed: it needed all members where all that is
  // known of the group does.
  void reach_by_status(std::size_t index) {
    for (const auto& [group, progress] : job_.nodes[index].progress) {
      if (!use_[group].mutual || use_[group].other) continue;
      reach(group, progress.completed, index);
    }
  }

  void reach(std::size_t group, std::int64_t seq, std::size_t index) {
    if (seq > furthest_[group].seq) furthest_[group] = {seq, index};
  }

  // A host enqueues what its device is to run: what all members took part in, each had enqueued.
  // What a device has not completed, by its own dump, says nothing: where it has failed, none of
  // its events is seen to complete.
  void judge(std::size_t group) {
    const Furthest& furthest = furthest_[group];
    if (furthest.node == kNone) return;
    for (const std::size_t member : job_.groups[group].present) {
      Node& node = job_.nodes[member];
      if (node.is_outdated() || member == furthest.node) continue;
      const auto enqueued = enqueued_by(node, group);
      if (!enqueued || *enqueued >= furthest.seq) continue;
      node.outdated = {furthest.node, group, false, furthest.seq, *enqueued};
    }
  }

  // What a rank has received its peer had enqueued as a send. A peer that does not name the group
  // may call it otherwise: what its dump lacks there it need not lack.
  void judge_receives(std::size_t index) {
    const Node& receiver = job_.nodes[index];
    if (!receiver.transfers) return;
    for (const auto& [stream, list] : *receiver.transfers) {
      const auto sender = job_.node_of_rank.find(stream.other);
      if (stream.send || sender == job_.node_of_rank.end()) continue;
      Node& node = job_.nodes[sender->second];
      if (!node.transfers || node.is_outdated() || !node.groups.contains(stream.group)) continue;
      const auto received = std::count_if(list.begin(), list.end(), [&](std::size_t one) {
        return receiver.operations[one].completed;
      });
      const auto sends = node.transfers->find({stream.group, *receiver.rank, true});
      const auto sent =
          static_cast<std::int64_t>(sends == node.transfers->end() ? 0 : sends->second.size());
      if (received > sent) node.outdated = {index, stream.group, true, received, sent};
    }
  }

  // How many collectives of the group the rank had enqueued when its dump was written; nothing
  // where the dump does not say for sure.
  static std::optional<std::int64_t> enqueued_by(const Node& node, std::size_t group) {
    for (const std::size_t where : {group, kNone}) {
      const auto holes = node.holes.find(where);
      if (holes != node.holes.end() && !holes->second.empty()) return std::nullopt;
    }
    const auto last = node.last_seq.find(group);
    const std::int64_t by_entries = last == node.last_seq.end() ? -1 : last->second.seq;
    const auto progress = node.progress.find(group);
    if (progress != node.progress.end() && progress->second.enqueued >= 0) {
      return std::max(by_entries, progress->second.enqueued);
    }
    // Of a dump of what is active the completed ones are missing.
    const bool keeps_completed =
        std::any_of(node.operations.begin(), node.operations.end(),
                    [](const Operation& one) { return one.completed && !one.doubtful; });
    return keeps_completed && by_entries >= 0 ? std::optional(by_entries) : std::nullopt;
  }

  Job& job_;
  std::vector<Furthest> furthest_;  // by group
  std::vector<Use> use_;            // by group
};

std::int64_t last_sign_ns(const Node& node) {
  std::int64_t last = 0;
  for (const Operation& one : node.operations) {
    if (one.doubtful) continue;
    last = std::max({last, one.entry.created_ns, one.entry.started_ns.value_or(0),
                     one.entry.completed_ns.value_or(0)});
  }
  return last;
}

std::int64_t last_of(const Node& node, std::size_t group) {
  const auto last = node.last_seq.find(group);
  return last == node.last_seq.end() ? -1 : last->second.seq;
}

// How a peer stands to an operation that it has completed and another rank has not.
struct Ahead {
  bool known = false;
  std::optional<std::int64_t> completed_ns;
  std::int64_t more = 0;  // how much more of its kind the peer has enqueued than the rank
};

Ahead ahead_in_collectives(const Node& node, const Node& peer, const Operation& stuck) {
  const auto found = peer.collectives.find({stuck.group, stuck.entry.seq});
  if (found == peer.collectives.end()) return {};
  return {true, completion_ns(peer, found->second),
          last_of(peer, stuck.group) - last_of(node, stuck.group)};
}

Ahead ahead_in_transfers(const Job& job, std::size_t node, std::size_t index) {
  const OtherEnd end = other_end(job, node, index);
  if (end.index == kNone) return {};
  return {true, completion_ns(job.nodes[end.node], end.index), end.enqueued_there - end.enqueued};
}

}  // namespace

bool is_mutual(const Operation& operation) {
  const std::string name = flight_operation(operation.entry.name);
  return std::find(std::begin(kMutual), std::end(kMutual), name) != std::end(kMutual);
}

bool is_seen_earlier(const Job& job, std::size_t node, const Position& position) {
  const Operation& stuck = job.nodes[node].operations[position.operation];
  const std::int64_t own = last_sign_ns(job.nodes[node]);
  bool further = false;
  for (const std::size_t peer : *position.peers) {
    const Ahead ahead = stuck.collective
                            ? ahead_in_collectives(job.nodes[node], job.nodes[peer], stuck)
                            : ahead_in_transfers(job, node, position.operation);
    if (!ahead.known) continue;
    if (ahead.completed_ns && *ahead.completed_ns <= own) return false;
    // One more is what a peer enqueues that then waits for the rank.
    further = further || ahead.more > 1;
  }
  return further;
}

void find_outdated(Job& job) {
  OutdatedFinder(job).find();
}

}  // namespace teller::flight
