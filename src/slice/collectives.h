// Collectives across ranks: which belong together, and how late and how slow each rank is.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "run_folder/chains.h"
#include "slice/side_values.h"

namespace teller::slice_detail {

// Steps of several ranks that have one step number.
struct RankSteps {
  struct Member {
    std::int32_t rank;
    std::uint32_t step;
  };
  std::vector<Member> members;  // by rank, each rank once; at least two
};

// By the first member's step. Steps of one engine and number belong together; where a rank has
// several with one number, the first ones belong together, then the second ones.
std::vector<RankSteps> steps_across_ranks(const Chains& chains);

// Nodes of a step that are its collectives: those on the device or, where there are none, the
// outermost host ranges. By begin.
std::vector<std::uint32_t> collectives_of_step(const Chains& chains, std::uint32_t step);

// One collective on one rank.
struct Arrival {
  std::uint32_t node = 0;
  std::uint32_t member = 0;  // index into RankSteps::members
  double lateness_ns = 0;    // begin less the median begin of the group
  double wait_share = 0;     // share of its time before the last rank came
  double log_transfer = 0;   // log(1 us + time from the last arrival to its end)
  bool open = false;         // it never ended, so that its transfer is not known
};

// The n-th collective of a family in a step, on every rank that has one.
struct CollectiveGroup {
  std::uint32_t family = 0;  // string of the chains
  std::vector<Arrival> arrivals;
};

// Groups of at least two.
std::vector<CollectiveGroup> match_collectives(const Chains& chains, const RankSteps& steps);

// What is usual of the collectives of one family.
struct CollectiveNorm {
  double late_spread_ns = 0;  // MAD of lateness, at least 20 us
  SideNorm transfer;          // of log_transfer
};
using CollectiveNorms = std::map<std::string, CollectiveNorm>;

// What some runs show of each family; a norm needs `least` collectives.
class CollectiveLesson {
 public:
  void add(const Chains& chains);
  CollectiveNorms norms(std::size_t least) const;

 private:
  struct Seen {
    std::vector<double> lateness, transfer;
  };
  std::map<std::string, Seen> seen_;
};

inline constexpr double kLateFloorNs = 20'000;

}  // namespace teller::slice_detail
