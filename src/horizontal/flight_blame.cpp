#include "horizontal/flight_blame.h"

#include <algorithm>
#include <iterator>
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

// How much more a call that its own rank never made there before says.
constexpr double kHabitWeight = 2;

// Counts the ranks whose waits lead to an end. Ends that are named by the same lists of waits have
// the same ranks behind them.
class WaiterCounter {
 public:
  explicit WaiterCounter(const WaitGraph& graph) : graph_(graph), seen_(graph.backward.size(), 0) {}

  std::size_t count(std::size_t end) {
    // Who waits itself may be among those behind it, as in a circle.
    if (!graph_.forward[end].empty()) return walk(end);
    const auto [known, is_new] = counts_.try_emplace(graph_.lists_with(end));
    if (is_new) known->second = walk(end);
    return known->second;
  }

 private:
  std::size_t walk(std::size_t end) {
    std::vector<std::size_t> open{end};
    seen_[end] = ++turn_;
    std::size_t count = 0;
    while (!open.empty()) {
      const std::size_t point = open.back();
      open.pop_back();
      for (const std::size_t waiter : graph_.backward[point]) {
        if (seen_[waiter] == turn_) continue;
        seen_[waiter] = turn_;
        if (waiter < graph_.nodes) ++count;
        open.push_back(waiter);
      }
    }
    return count;
  }

  const WaitGraph& graph_;
  std::vector<std::size_t> seen_;  // the turn in which a point was seen last
  std::size_t turn_ = 0;
  std::map<std::vector<std::size_t>, std::size_t> counts_;
};

class BlameFinder {
 public:
  BlameFinder(const Job& job, const std::vector<Position>& positions, const WaitGraph& graph)
      : job_(job), positions_(positions), graph_(graph), counter_(graph) {}

  Blame find() {
    find_ends();
    for (const std::size_t end : ends_) suspect(end);
    for (const Position& position : positions_) {
      if (position.standing == Standing::kWaits) ++blame_.waiting;
    }
    weigh_habits();
    score();
    blame_.verdict = verdict();
    if (blame_.verdict == "stuck_together" || blame_.verdict == "all_in_one_place") find_link();
    if (blame_.verdict == "all_in_one_place") blame_.suspects.clear();
    if (blame_.verdict == "rank_stuck") {
      const Suspect& first = blame_.suspects.front();
      const bool awaited = first.waiters > 0 || blame_.waiting > 0;
      // The watchdog gives up after minutes: what it let go of was not under way any more.
      const bool timed_out = operation_of(first.node).entry.retired;
      blame_.may_be_earlier =
          !timed_out && (!awaited || is_seen_earlier(job_, first.node, positions_[first.node]));
    }
    return std::move(blame_);
  }

 private:
  // Circles out of which no wait leads. A rank that waits for nobody is one by itself.
  void find_ends() {
    const std::vector<std::size_t> circle = find_circles(graph_);
    std::vector<bool> left(graph_.forward.size(), false);
    std::vector<std::size_t> sizes(graph_.forward.size(), 0);
    for (std::size_t point = 0; point < graph_.forward.size(); ++point) {
      if (point < graph_.nodes) ++sizes[circle[point]];
      for (const std::size_t next : graph_.forward[point]) {
        if (circle[next] != circle[point]) left[circle[point]] = true;
      }
    }
    std::map<std::size_t, std::vector<std::size_t>> circles;
    for (std::size_t node = 0; node < graph_.nodes; ++node) {
      if (left[circle[node]]) continue;
      if (sizes[circle[node]] > 1) {
        circles[circle[node]].push_back(node);
      } else {
        ends_.push_back(node);
      }
    }
    for (const auto& [number, nodes] : circles) add_circle(nodes);
    std::sort(ends_.begin(), ends_.end());
  }

  // Of a circle those are to blame that broke the order of most, or else their own of earlier
  // steps; all where neither is known.
  void add_circle(const std::vector<std::size_t>& nodes) {
    std::vector<std::size_t> named =
        part_of(out_of_order(job_, positions_, nodes), nodes,
                "They enqueued operations in another order than most ranks of these groups.");
    if (named.empty()) {
      named = part_of(against_habit(job_, positions_, nodes), nodes,
                      "In the steps before another call followed there, and the others keep to "
                      "theirs.");
    }
    if (named.empty()) named = nodes;
    ends_.insert(ends_.end(), named.begin(), named.end());
    in_circle_.insert(named.begin(), named.end());
  }

  // `odd` as far as it is in the circle; nobody where it is all of it.
  std::vector<std::size_t> part_of(const std::vector<std::size_t>& odd,
                                   const std::vector<std::size_t>& circle, const char* words) {
    std::vector<std::size_t> named;
    std::set_intersection(odd.begin(), odd.end(), circle.begin(), circle.end(),
                          std::back_inserter(named));
    if (named.size() == circle.size()) named.clear();
    if (!named.empty()) blame_.circle_words = words;
    return named;
  }

  void suspect(std::size_t end) {
    const Standing standing = positions_[end].standing;
    const std::size_t waiters = counter_.count(end);
    const bool alone = standing == Standing::kStuckAlone || standing == Standing::kMismatched;
    if (waiters == 0 && !alone) return;
    // It may wait for one of whom it is not known whether it came.
    if (standing == Standing::kInside && !positions_[end].unclear->empty()) return;
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

  // Of calls without a majority: whose own past tells another call there comes first.
  void weigh_habits() {
    std::vector<std::size_t> mismatched;
    for (const Suspect& suspect : blame_.suspects) {
      if (positions_[suspect.node].standing == Standing::kMismatched) {
        mismatched.push_back(suspect.node);
      }
    }
    const std::vector<std::size_t> odd = against_habit(job_, positions_, mismatched);
    if (odd.empty() || odd.size() == mismatched.size()) return;
    for (Suspect& suspect : blame_.suspects) {
      if (std::binary_search(odd.begin(), odd.end(), suspect.node)) suspect.score *= kHabitWeight;
    }
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

  std::string verdict() {
    const auto any = [&](Standing standing) {
      return std::any_of(positions_.begin(), positions_.end(),
                         [&](const Position& one) { return one.standing == standing; });
    };
    if (blame_.suspects.empty()) {
      const bool unclear = std::any_of(positions_.begin(), positions_.end(),
                                       [](const Position& one) { return !one.unclear->empty(); });
      if (unclear) return "unclear";
      if (any(Standing::kInside)) return "all_in_one_place";
      blame_.lacking_words = why_not_healthy(job_);
      return blame_.lacking_words.empty() ? "healthy" : "unclear";
    }
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

  const Operation& operation_of(std::size_t node) const {
    return job_.nodes[node].operations[positions_[node].operation];
  }

  // A send and its receive that are the first of both ranks.
  void find_link() {
    const std::size_t start = blame_.suspects.empty() ? kNone : blame_.suspects.front().node;
    for (std::size_t node = 0; node < positions_.size(); ++node) {
      const Position& position = positions_[node];
      if (position.standing != Standing::kInside || (start != kNone && node != start)) continue;
      const Operation& operation = operation_of(node);
      if (operation.other < 0 || !job_.nodes[node].rank) continue;
      const int self = *job_.nodes[node].rank;
      blame_.link =
          operation.send ? std::pair(self, operation.other) : std::pair(operation.other, self);
      return;
    }
  }

  const Job& job_;
  const std::vector<Position>& positions_;
  const WaitGraph& graph_;
  WaiterCounter counter_;
  std::vector<std::size_t> ends_;  // nodes, ascending
  std::set<std::size_t> in_circle_;
  Blame blame_;
};

}  // namespace

Blame find_blame(const Job& job, const std::vector<Position>& positions, const WaitGraph& graph) {
  return BlameFinder(job, positions, graph).find();
}

}  // namespace teller::flight
