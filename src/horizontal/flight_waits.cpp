#include "horizontal/flight_waits.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <tuple>

namespace teller::flight {

namespace {

// Operations after which every rank knows that every other one has come: where one rank has
// completed one, all have taken part.
constexpr std::string_view kMutual[] = {"all_reduce", "all_gather", "reduce_scatter",
                                        "all_to_all", "barrier",    "allreduce"};

bool is_mutual(const Operation& operation) {
  const std::string name = flight_operation(operation.entry.name);
  return std::find(std::begin(kMutual), std::end(kMutual), name) != std::end(kMutual);
}

// Operations of one sort follow each other: collectives of a group, sends or receives of a pair.
using Stream = std::tuple<std::size_t, bool, int, bool>;
Stream stream_of(const Operation& operation) {
  return {operation.group, operation.collective, operation.other, operation.send};
}

class RankReader {
 public:
  RankReader(const Job& job, const std::vector<Mismatch>& mismatches, std::size_t self)
      : job_(job), mismatches_(mismatches), self_(self), node_(job.nodes[self]) {}

  Position read() {
    Position position;
    if (!node_.has_dump) {
      position.standing = Standing::kNoDump;
      return position;
    }
    const std::vector<std::size_t> heads = heads_of_streams();
    if (heads.empty()) return position;
    for (const std::size_t head : heads) {
      if (is_stuck_alone(head, position)) return position;
    }
    for (const std::size_t head : heads) {
      if (tells_nothing(node_.operations[head])) continue;
      read_first(head, position);
      return position;
    }
    position.standing = Standing::kInside;
    position.operation = heads.front();
    return position;
  }

 private:
  // What each of its streams is at, first enqueued first.
  std::vector<std::size_t> heads_of_streams() const {
    std::set<Stream> seen;
    std::vector<std::size_t> heads;
    for (const std::size_t index : node_.pending) {
      if (seen.insert(stream_of(node_.operations[index])).second) heads.push_back(index);
    }
    return heads;
  }

  // Where it is not known who takes part.
  bool tells_nothing(const Operation& operation) const {
    if (operation.collective) return job_.groups[operation.group].members.empty();
    return operation.other < 0 || !node_.rank;
  }

  // What was enqueued first is what this rank waits in. What lies behind it tells nothing: hosts
  // run ahead of their devices, some further than others.
  void read_first(std::size_t index, Position& position) const {
    const Operation& operation = node_.operations[index];
    position.operation = index;
    if (is_mismatched(index, position)) return;
    for (const std::size_t one : launched_with(index)) {
      position.waits = waits_in(one);
      if (position.waits.empty()) continue;
      position.operation = one;
      position.standing = Standing::kWaits;
      return;
    }
    position.peers = peers_that_started(operation);
    position.standing = position.peers.empty() ? Standing::kInside : Standing::kNotStarted;
  }

  // The open operations of its batch; itself, where it was launched alone.
  std::vector<std::size_t> launched_with(std::size_t index) const {
    const std::size_t batch = node_.operations[index].batch;
    if (batch == kNone) return {index};
    std::vector<std::size_t> all;
    for (const std::size_t one : node_.pending) {
      if (node_.operations[one].batch == batch) all.push_back(one);
    }
    return all;
  }

  std::vector<Wait> waits_in(std::size_t index) const {
    const Operation& operation = node_.operations[index];
    if (tells_nothing(operation)) return {};
    return operation.collective ? waits_in_collective(operation) : waits_for_peer(index);
  }

  bool is_stuck_alone(std::size_t index, Position& position) const {
    const Operation& operation = node_.operations[index];
    if (!operation.collective || !is_mutual(operation)) return false;
    std::vector<std::size_t> completed;
    for (const std::size_t peer : job_.groups[operation.group].members) {
      if (peer == self_) continue;
      if (reached(job_, peer, operation.group, operation.entry.seq) == Reached::kCompleted) {
        completed.push_back(peer);
      }
    }
    if (completed.empty()) return false;
    position.standing = Standing::kStuckAlone;
    position.operation = index;
    position.peers = std::move(completed);
    return true;
  }

  const Mismatch* mismatch_at(const Operation& operation) const {
    for (const Mismatch& one : mismatches_) {
      if (operation.collective && one.group == operation.group && one.seq == operation.entry.seq) {
        return &one;
      }
    }
    return nullptr;
  }

  bool is_mismatched(std::size_t index, Position& position) const {
    const Mismatch* mismatch = mismatch_at(node_.operations[index]);
    if (mismatch == nullptr) return false;
    const auto& few = mismatch->few;
    if (std::find(few.begin(), few.end(), self_) == few.end()) return false;
    position.standing = Standing::kMismatched;
    position.operation = index;
    position.peers = mismatch->most;
    position.detail = mismatch->detail;
    return true;
  }

  std::vector<Wait> waits_in_collective(const Operation& operation) const {
    std::vector<Wait> waits;
    if (const Mismatch* mismatch = mismatch_at(operation)) {
      for (const std::size_t other : mismatch->few) waits.push_back({other, WaitReason::kMismatch});
      return waits;
    }
    for (const std::size_t peer : job_.groups[operation.group].members) {
      if (peer == self_) continue;
      switch (reached(job_, peer, operation.group, operation.entry.seq)) {
        case Reached::kUnknownRank:
          waits.push_back({peer, WaitReason::kNoDump});
          break;
        case Reached::kNotEnqueued:
          waits.push_back({peer, WaitReason::kNotEnqueued});
          break;
        case Reached::kBehind:
          waits.push_back({peer, WaitReason::kBehind});
          break;
        case Reached::kThere:
          if (operation.started && !has_started(peer, operation)) {
            waits.push_back({peer, WaitReason::kNotStarted});
          }
          break;
        case Reached::kCompleted:
          break;
      }
    }
    return waits;
  }

  // Who has begun a collective that this rank has not.
  std::vector<std::size_t> peers_that_started(const Operation& operation) const {
    std::vector<std::size_t> peers;
    if (!operation.collective || operation.started) return peers;
    for (const std::size_t peer : job_.groups[operation.group].members) {
      const Node& node = job_.nodes[peer];
      const auto found = node.collectives.find({operation.group, operation.entry.seq});
      if (found == node.collectives.end()) continue;
      if (node.operations[found->second].started) peers.push_back(peer);
    }
    return peers;
  }

  bool has_started(std::size_t peer, const Operation& operation) const {
    const Node& node = job_.nodes[peer];
    const auto found = node.collectives.find({operation.group, operation.entry.seq});
    return found == node.collectives.end() || node.operations[found->second].started;
  }

  // The sends of a pair meet its receives in their order: the third that is open here is the third
  // that is open there.
  std::vector<Wait> waits_for_peer(std::size_t index) const {
    const Operation& operation = node_.operations[index];
    const auto other = job_.node_of_rank.find(operation.other);
    if (other == job_.node_of_rank.end()) return {};
    const Node& peer = job_.nodes[other->second];
    if (!peer.has_dump) return {{other->second, WaitReason::kNoDump}};
    std::size_t before = 0;
    for (const std::size_t one : node_.pending) {
      if (one == index) break;
      if (stream_of(node_.operations[one]) == stream_of(operation)) ++before;
    }
    for (const std::size_t one : peer.pending) {
      const Operation& theirs = peer.operations[one];
      const bool meets = theirs.group == operation.group && theirs.other == *node_.rank &&
                         theirs.send != operation.send;
      if (!meets || before-- > 0) continue;
      if (position_of(peer, one) == 0) return {};
      return {{other->second, WaitReason::kBehind}};
    }
    return {{other->second, WaitReason::kNotEnqueued}};
  }

  const Job& job_;
  const std::vector<Mismatch>& mismatches_;
  std::size_t self_;
  const Node& node_;
};

}  // namespace

std::vector<Position> find_positions(const Job& job) {
  const std::vector<Mismatch> mismatches = find_mismatches(job);
  std::vector<Position> positions;
  for (std::size_t i = 0; i < job.nodes.size(); ++i) {
    positions.push_back(RankReader(job, mismatches, i).read());
  }
  return positions;
}

}  // namespace teller::flight
