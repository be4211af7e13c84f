// Follows who waits for whom to its end: the ranks that wait for nobody. Private to the flight_*
// files.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "horizontal/flight_waits.h"

namespace teller::flight {

// A rank at the end of waits.
struct Suspect {
  std::size_t node = kNone;
  std::size_t waiters = 0;  // ranks whose waits lead to it
  double score = 0;         // share of the blame; all together at most 1
};

struct Blame {
  // In one word: "healthy", "all_in_one_place", "rank_absent", "rank_behind", "rank_stuck",
  // "rank_not_started", "mismatch", "deadlock", "stuck_together".
  std::string verdict = "healthy";
  std::vector<Suspect> suspects;  // most likely first
  // Global ranks of a send and its receive that are both there and do not come through.
  std::optional<std::pair<int, int>> link;
  std::size_t waiting = 0;  // ranks that wait for others
};

// `positions` are those of find_positions().
Blame find_blame(const Job& job, const std::vector<Position>& positions);

// Groups of nodes that wait for each other in a circle, each node in one; by node. Numbers are
// those of the first found, and mean nothing else.
std::vector<std::size_t> find_circles(const std::vector<Position>& positions);

}  // namespace teller::flight
