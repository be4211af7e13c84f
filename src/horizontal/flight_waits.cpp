#include "horizontal/flight_waits.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <tuple>

namespace teller::flight {

namespace {

// Operations of one sort follow each other: collectives of a group, sends or receives of a pair.
using Stream = std::tuple<std::size_t, bool, int, bool>;
Stream stream_of(const Operation& operation) {
  return {operation.group, operation.collective, operation.other, operation.send};
}

// How all members of a group stand to one of its collectives.
struct Stand {
  std::vector<std::size_t> completed, started, unclear;  // members
  WaitList missing;                                      // whom one that is there waits for
  WaitList missing_started;                              // the same for one that has begun it
  const Mismatch* mismatch = nullptr;
};

// Stands of all collectives that are asked for: each is looked up once for all ranks.
class Stands {
 public:
  Stands(const Job& job, const std::vector<Mismatch>& mismatches) : job_(job) {
    for (const Mismatch& one : mismatches) mismatches_[{one.group, one.seq}] = &one;
    for (std::size_t node = 0; node < job.nodes.size() && idle_.size() < kMostIdle; ++node) {
      if (job.nodes[node].has_dump && job.nodes[node].pending.empty()) idle_.push_back(node);
    }
  }

  const Stand& at(const Operation& operation) {
    const Place place{operation.group, operation.entry.seq};
    const auto [found, is_new] = stands_.try_emplace(place);
    if (is_new) fill(place, found->second);
    return found->second;
  }

 private:
  using Place = std::pair<std::size_t, std::int64_t>;

  void fill(const Place& place, Stand& stand) const {
    const auto mismatch = mismatches_.find(place);
    if (mismatch != mismatches_.end()) stand.mismatch = mismatch->second;
    std::vector<Wait> missing, not_started;
    for (const std::size_t member : job_.groups[place.first].members) {
      switch (reached(job_, member, place.first, place.second)) {
        case Reached::kUnknownRank:
          missing.push_back({member, WaitReason::kNoDump});
          break;
        case Reached::kUnclear:
          stand.unclear.push_back(member);
          break;
        case Reached::kNotEnqueued:
          missing.push_back({member, WaitReason::kNotEnqueued});
          break;
        case Reached::kBehind:
          if (waits_for_unknown(member)) {
            stand.unclear.push_back(member);
          } else {
            missing.push_back({member, WaitReason::kBehind});
          }
          break;
        case Reached::kThere:
          add_there(member, place, stand, not_started);
          break;
        case Reached::kCompleted:
          stand.completed.push_back(member);
          break;
      }
    }
    add_perhaps_members(place.first, stand);
    std::vector<Wait> both = missing;
    both.insert(both.end(), not_started.begin(), not_started.end());
    stand.missing = std::make_shared<const std::vector<Wait>>(std::move(missing));
    stand.missing_started = std::make_shared<const std::vector<Wait>>(std::move(both));
    if (stand.mismatch != nullptr) blame_few(stand);
  }

  // What it has enqueued first does not tell for whom it waits there: perhaps for those who wait
  // for it here.
  bool waits_for_unknown(std::size_t member) const {
    const Node& node = job_.nodes[member];
    return tells_nothing(job_, node, node.operations[node.pending.front()]);
  }

  // Of a group that no dump lists, ranks with nothing open may be members that have not come.
  void add_perhaps_members(std::size_t group, Stand& stand) const {
    const Group& asked = job_.groups[group];
    if (!asked.ranks.empty()) return;
    for (const std::size_t node : idle_) {
      const bool is_member = std::binary_search(asked.members.begin(), asked.members.end(), node);
      if (!is_member) stand.unclear.push_back(node);
    }
  }

  static void blame_few(Stand& stand) {
    std::vector<Wait> few;
    for (const std::size_t one : stand.mismatch->few) few.push_back({one, WaitReason::kMismatch});
    stand.missing = stand.missing_started = std::make_shared<const std::vector<Wait>>(few);
    stand.unclear.clear();
  }

  // Where the dump has no entry of it, or is of an earlier moment, whether it has started is not
  // known, and nothing is held against the rank.
  void add_there(std::size_t member, const Place& place, Stand& stand,
                 std::vector<Wait>& not_started) const {
    const Node& node = job_.nodes[member];
    const auto found = node.collectives.find(place);
    if (found == node.collectives.end()) return;
    if (node.operations[found->second].started) {
      stand.started.push_back(member);
    } else if (!node.is_outdated()) {
      not_started.push_back({member, WaitReason::kNotStarted});
    }
  }

  // One is enough to make it unclear; a job may have as many as ranks, and as many groups.
  static constexpr std::size_t kMostIdle = 1024;

  const Job& job_;
  std::vector<std::size_t> idle_;  // nodes with a dump and nothing open, the first of them
  std::map<Place, const Mismatch*> mismatches_;
  std::map<Place, Stand> stands_;
};

WaitList no_waits() {
  static const auto none = std::make_shared<const std::vector<Wait>>();
  return none;
}

NodeList no_nodes() {
  static const auto none = std::make_shared<const std::vector<std::size_t>>();
  return none;
}

NodeList without(const std::vector<std::size_t>& nodes, std::size_t self) {
  std::vector<std::size_t> others;
  std::copy_if(nodes.begin(), nodes.end(), std::back_inserter(others),
               [&](std::size_t one) { return one != self; });
  return std::make_shared<const std::vector<std::size_t>>(std::move(others));
}

class RankReader {
 public:
  RankReader(const Job& job, Stands& stands, std::size_t self)
      : job_(job), stands_(stands), self_(self), node_(job.nodes[self]) {}

  Position read() {
    Position position;
    position.waits = no_waits();
    position.peers = position.unclear = no_nodes();
    if (!node_.has_dump) {
      position.standing = Standing::kNoDump;
      return position;
    }
    if (node_.is_outdated()) {
      position.standing = Standing::kOutdated;
      return position;
    }
    const std::vector<std::size_t> heads = heads_of_streams();
    if (heads.empty()) return position;
    for (const std::size_t head : heads) {
      if (is_stuck_alone(head, position)) return position;
    }
    for (const std::size_t head : heads) {
      if (tells_nothing(job_, node_, node_.operations[head])) continue;
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

  // What was enqueued first is what this rank waits in. What lies behind it tells nothing: hosts
  // run ahead of their devices, some further than others.
  void read_first(std::size_t index, Position& position) {
    const Operation& operation = node_.operations[index];
    position.operation = index;
    if (is_mismatched(index, position)) return;
    for (const std::size_t one : launched_with(index)) {
      position.waits = waits_in(one, position);
      if (position.waits->empty()) continue;
      position.operation = one;
      position.standing = Standing::kWaits;
      return;
    }
    if (operation.collective && !operation.started) {
      position.peers = without(stands_.at(operation).started, self_);
    }
    position.standing = position.peers->empty() ? Standing::kInside : Standing::kNotStarted;
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

  WaitList waits_in(std::size_t index, Position& position) {
    const Operation& operation = node_.operations[index];
    if (tells_nothing(job_, node_, operation)) return no_waits();
    return operation.collective ? waits_in_collective(operation, position)
                                : waits_for_peer(index, position);
  }

  bool is_stuck_alone(std::size_t index, Position& position) {
    const Operation& operation = node_.operations[index];
    if (is_sent_alone(index, position)) return true;
    if (!operation.collective || !is_mutual(operation)) return false;
    const Stand& stand = stands_.at(operation);
    if (stand.completed.empty()) return false;
    position.standing = Standing::kStuckAlone;
    position.operation = index;
    position.peers = without(stand.completed, self_);
    return true;
  }

  // What its peer has received it has sent.
  bool is_sent_alone(std::size_t index, Position& position) const {
    if (!node_.operations[index].send) return false;
    const OtherEnd end = other_end(job_, self_, index);
    if (end.index == kNone || !job_.nodes[end.node].operations[end.index].completed) return false;
    position.standing = Standing::kStuckAlone;
    position.operation = index;
    position.peers = without({end.node}, kNone);
    return true;
  }

  bool is_mismatched(std::size_t index, Position& position) {
    const Operation& operation = node_.operations[index];
    const Mismatch* mismatch = operation.collective ? stands_.at(operation).mismatch : nullptr;
    if (mismatch == nullptr) return false;
    if (!std::binary_search(mismatch->few.begin(), mismatch->few.end(), self_)) return false;
    position.standing = Standing::kMismatched;
    position.operation = index;
    position.peers = std::make_shared<const std::vector<std::size_t>>(mismatch->most);
    position.detail = mismatch->detail;
    return true;
  }

  WaitList waits_in_collective(const Operation& operation, Position& position) {
    const Stand& stand = stands_.at(operation);
    if (!stand.unclear.empty()) position.unclear = without(stand.unclear, self_);
    const WaitList& list = operation.started ? stand.missing_started : stand.missing;
    const bool has_self = std::any_of(list->begin(), list->end(),
                                      [&](const Wait& wait) { return wait.node == self_; });
    if (!has_self) return list;
    std::vector<Wait> others;
    std::copy_if(list->begin(), list->end(), std::back_inserter(others),
                 [&](const Wait& wait) { return wait.node != self_; });
    return std::make_shared<const std::vector<Wait>>(std::move(others));
  }

  static WaitList one_wait(std::size_t node, WaitReason reason) {
    return std::make_shared<const std::vector<Wait>>(1, Wait{node, reason});
  }

  // The sends of a pair meet its receives in their order.
  WaitList waits_for_peer(std::size_t index, Position& position) const {
    const Operation& operation = node_.operations[index];
    const auto other = job_.node_of_rank.find(operation.other);
    if (other == job_.node_of_rank.end()) return no_waits();
    const Node& peer = job_.nodes[other->second];
    if (!peer.has_dump) return one_wait(other->second, WaitReason::kNoDump);
    const OtherEnd end = other_end(job_, self_, index);
    const std::size_t meeting = end.known ? end.index : pending_end(index, peer);
    if (meeting != kNone) {
      // A send that was completed is on its way, whatever else its rank is at.
      if (peer.operations[meeting].completed || peer.place[meeting] == 0) return no_waits();
      if (!peer.is_outdated()) return one_wait(other->second, WaitReason::kBehind);
    }
    if (peer.is_outdated() || is_unclear(peer, operation)) {
      position.unclear = without({other->second}, kNone);
      return no_waits();
    }
    return one_wait(other->second, WaitReason::kNotEnqueued);
  }

  // Where places do not tell: the third that is open here is the third that is open there.
  std::size_t pending_end(std::size_t index, const Node& peer) const {
    const Operation& operation = node_.operations[index];
    std::size_t before = 0;
    for (const std::size_t one : node_.pending) {
      if (one == index) break;
      if (stream_of(node_.operations[one]) == stream_of(operation)) ++before;
    }
    for (const std::size_t one : peer.pending) {
      if (meets(peer.operations[one], operation) && before-- == 0) return one;
    }
    return kNone;
  }

  bool meets(const Operation& theirs, const Operation& ours) const {
    return theirs.group == ours.group && theirs.other == *node_.rank && theirs.send != ours.send;
  }

  // Whether the other end may be among what cannot be relied on, or what is open with a peer that
  // is not known, for the dump does not list the group's ranks.
  bool is_unclear(const Node& peer, const Operation& operation) const {
    const auto holes = peer.holes.find(kNone);
    if (holes != peer.holes.end() && !holes->second.empty()) return true;
    return std::any_of(peer.operations.begin(), peer.operations.end(), [&](const Operation& one) {
      if (one.doubtful) return meets(one, operation);
      return !one.collective && !one.wrapper && !one.completed && one.other < 0 &&
             one.send != operation.send && one.entry.group == operation.entry.group;
    });
  }

  const Job& job_;
  Stands& stands_;
  std::size_t self_;
  const Node& node_;
};

}  // namespace

bool tells_nothing(const Job& job, const Node& node, const Operation& operation) {
  if (operation.collective) return job.groups[operation.group].members.empty();
  return operation.other < 0 || !node.rank;
}

std::vector<Position> find_positions(const Job& job) {
  const std::vector<Mismatch> mismatches = find_mismatches(job);
  Stands stands(job, mismatches);
  std::vector<Position> positions;
  positions.reserve(job.nodes.size());
  for (std::size_t i = 0; i < job.nodes.size(); ++i) {
    positions.push_back(RankReader(job, stands, i).read());
  }
  return positions;
}

}  // namespace teller::flight
