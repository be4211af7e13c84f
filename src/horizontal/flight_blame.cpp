#include "horizontal/flight_blame.h"

#include <algorithm>
#include <map>
#include <set>

namespace teller::flight {

namespace {

// How much one rank's wait says against the rank at its end: who has not come to an operation, or
// cannot complete what its peers have completed, holds the others up. Of a rank without a dump it
// is not known whether it came, and who stands in an operation with all its peers may wait with
// them.
double weight_of(Standing standing) {
  switch (standing) {
    case Standing::kNoDump:
      return 0.8;
    case Standing::kInside:
      return 0.3;
    default:
      return 1;
  }
}

// Ranks that can be reached backwards from `end`, itself left out.
std::size_t count_waiters(const std::vector<std::vector<std::size_t>>& waiters, std::size_t end) {
  std::vector<bool> seen(waiters.size(), false);
  std::vector<std::size_t> open{end};
  seen[end] = true;
  std::size_t count = 0;
  while (!open.empty()) {
    const std::size_t node = open.back();
    open.pop_back();
    for (const std::size_t waiter : waiters[node]) {
      if (seen[waiter]) continue;
      seen[waiter] = true;
      ++count;
      open.push_back(waiter);
    }
  }
  return count;
}

class BlameFinder {
 public:
  BlameFinder(const Job& job, const std::vector<Position>& positions)
      : job_(job), positions_(positions), waiters_(positions.size()) {
    for (std::size_t node = 0; node < positions.size(); ++node) {
      for (const Wait& wait : positions[node].waits) waiters_[wait.node].push_back(node);
    }
  }

  Blame find() {
    find_ends();
    for (const std::size_t end : ends_) suspect(end);
    for (const Position& position : positions_) {
      if (position.standing == Standing::kWaits) ++blame_.waiting;
    }
    score();
    blame_.verdict = verdict();
    if (blame_.verdict == "stuck_together" || blame_.verdict == "all_in_one_place") find_link();
    if (blame_.verdict == "all_in_one_place") blame_.suspects.clear();
    return std::move(blame_);
  }

 private:
  // Circles out of which no wait leads. A rank that waits for nobody is one by itself.
  void find_ends() {
    circle_ = find_circles(positions_);
    std::set<std::size_t> left;
    std::map<std::size_t, std::size_t> sizes;
    for (std::size_t node = 0; node < positions_.size(); ++node) {
      ++sizes[circle_[node]];
      for (const Wait& wait : positions_[node].waits) {
        if (circle_[wait.node] != circle_[node]) left.insert(circle_[node]);
      }
    }
    for (std::size_t node = 0; node < positions_.size(); ++node) {
      if (left.contains(circle_[node])) continue;
      ends_.push_back(node);
      if (sizes[circle_[node]] > 1) in_circle_.insert(node);
    }
  }

  void suspect(std::size_t end) {
    const Standing standing = positions_[end].standing;
    const std::size_t waiters = count_waiters(waiters_, end);
    const bool alone = standing == Standing::kStuckAlone || standing == Standing::kMismatched;
    if (waiters == 0 && !alone) return;
    const auto count = static_cast<double>(waiters + (alone ? 1 : 0));
    blame_.suspects.push_back({end, waiters, count * weight_of(standing)});
  }

  // Shares of one. Of those who stand in one operation with the same share, first who has enqueued
  // least behind it, then who came to it last.
  void score() {
    double total = 0;
    for (const Suspect& suspect : blame_.suspects) total += suspect.score;
    for (Suspect& suspect : blame_.suspects) suspect.score /= total;
    std::stable_sort(blame_.suspects.begin(), blame_.suspects.end(),
                     [&](const Suspect& a, const Suspect& b) {
                       if (a.score != b.score) return a.score > b.score;
                       return std::pair(enqueued(a.node), -came_ns(a.node)) <
                              std::pair(enqueued(b.node), -came_ns(b.node));
                     });
  }

  std::size_t enqueued(std::size_t node) const {
    const bool inside = positions_[node].standing == Standing::kInside;
    return inside ? job_.nodes[node].pending.size() : 0;
  }

  std::int64_t came_ns(std::size_t node) const {
    const Position& position = positions_[node];
    if (position.standing != Standing::kInside) return 0;
    return job_.nodes[node].operations[position.operation].entry.created_ns;
  }

  std::string verdict() const {
    const auto any = [&](Standing standing) {
      return std::any_of(positions_.begin(), positions_.end(),
                         [&](const Position& one) { return one.standing == standing; });
    };
    if (blame_.suspects.empty()) return any(Standing::kInside) ? "all_in_one_place" : "healthy";
    const std::size_t first = blame_.suspects.front().node;
    if (in_circle_.contains(first)) return "deadlock";
    switch (positions_[first].standing) {
      case Standing::kNoDump:
        return "rank_absent";
      case Standing::kStuckAlone:
        return "rank_stuck";
      case Standing::kMismatched:
        return "mismatch";
      case Standing::kNotStarted:
        return "rank_not_started";
      case Standing::kInside:
        return "stuck_together";
      default:
        return "rank_behind";
    }
  }

  // A send and its receive that are the first of both ranks.
  void find_link() {
    const std::size_t start = blame_.suspects.empty() ? kNone : blame_.suspects.front().node;
    for (std::size_t node = 0; node < positions_.size(); ++node) {
      const Position& position = positions_[node];
      if (position.standing != Standing::kInside || (start != kNone && node != start)) continue;
      const Operation& operation = job_.nodes[node].operations[position.operation];
      if (operation.other < 0 || !job_.nodes[node].rank) return;
      const int self = *job_.nodes[node].rank;
      blame_.link =
          operation.send ? std::pair(self, operation.other) : std::pair(operation.other, self);
      return;
    }
  }

  const Job& job_;
  const std::vector<Position>& positions_;
  std::vector<std::vector<std::size_t>> waiters_;
  std::vector<std::size_t> circle_;
  std::vector<std::size_t> ends_;
  std::set<std::size_t> in_circle_;
  Blame blame_;
};

}  // namespace

Blame find_blame(const Job& job, const std::vector<Position>& positions) {
  return BlameFinder(job, positions).find();
}

}  // namespace teller::flight
