// Follows who waits for whom to its end: the ranks that wait for nobody. Private to the flight_*
// files.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "horizontal/flight_waits.h"

namespace teller::flight {

// Who waits for whom. Ranks that wait in one operation share one list of those they wait for: the
// list is a point of the graph between both, so that the graph is as small as the dumps are.
struct WaitGraph {
  explicit WaitGraph(const std::vector<Position>& positions);

  std::size_t nodes = 0;                          // points below this are nodes, others lists
  std::vector<std::vector<std::size_t>> forward;  // by point
  std::vector<std::vector<std::size_t>> backward;
  // A rank's lists of waits that name it. Those with equal ones have the same ranks behind them.
  const std::vector<std::size_t>& lists_with(std::size_t node) const { return backward[node]; }
};

// A rank at the end of waits.
struct Suspect {
  std::size_t node = kNone;
  std::size_t waiters = 0;  // ranks whose waits lead to it
  double score = 0;         // share of the blame; all together at most 1
};

struct Blame {
  // In one word: "healthy", "all_in_one_place", "rank_absent", "rank_behind", "rank_stuck",
  // "rank_not_started", "mismatch", "deadlock", "stuck_together", "unclear".
  std::string verdict = "healthy";
  std::vector<Suspect> suspects;  // most likely first
  // Global ranks of a send and its receive that are both there and do not come through.
  std::optional<std::pair<int, int>> link;
  std::size_t waiting = 0;  // ranks that wait for others
  // "deadlock": why not all ranks of the circle are named; "" where they are.
  std::string circle_words;
  // "rank_stuck": it looks the same where the dump was written a moment before those of its peers.
  bool may_be_earlier = false;
  // "unclear" though nobody waits: what is lacking for "healthy", a sentence; else "".
  std::string lacking_words;
};

// `positions` are those of find_positions(), `graph` is theirs.
Blame find_blame(const Job& job, const std::vector<Position>& positions, const WaitGraph& graph);

// What is lacking to call a job healthy in which nobody waits, a sentence: an operation that is
// completed, entries at the end that can be relied on, a status without outstanding work. "" for
// nothing.
std::string why_not_healthy(const Job& job);

// Groups of points that wait for each other in a circle, each point in one; by point. Numbers are
// those of the first found, and mean nothing else.
std::vector<std::size_t> find_circles(const WaitGraph& graph);

// Of nodes that wait in a circle: those that enqueued two collectives in another order than most
// ranks of both. Empty where no order has a majority.
std::vector<std::size_t> out_of_order(const Job& job, const std::vector<Position>& positions,
                                      const std::vector<std::size_t>& circle);
// Of `nodes` those whose call at their position is not the one that followed the calls before it in
// their own past: programs repeat themselves from step to step.
std::vector<std::size_t> against_habit(const Job& job, const std::vector<Position>& positions,
                                       const std::vector<std::size_t>& nodes);

}  // namespace teller::flight
