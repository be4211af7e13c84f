// How late each rank comes to collectives by its own doing, step by step. Private to horizontal/.
#pragma once

#include <cstdint>
#include <vector>

#include "horizontal/clocks.h"
#include "horizontal/match.h"
#include "horizontal/measure.h"
#include "horizontal/operations.h"
#include "run_folder/chains.h"

namespace teller::horizontal_detail {

// What the ranks did between two collectives of one step of the job; without steps, one collective
// is a unit of its own. Per rank, as Operations::ranks.
struct Unit {
  std::int64_t step = -1;  // the engine's number; -1 unknown
  double end_ns = 0;       // last median end of its collectives
  double length_ns = -1;   // since the end of the unit before; -1 for the first
  std::size_t collectives = 0;
  std::vector<double> late_ns;  // signed: lateness by own doing, summed
  std::vector<double> most_ns;  // largest lateness at one collective; 0 for none
  std::vector<double> own_ns;   // time outside collectives
  std::vector<double> wait_ns;  // time in collectives before the last rank came
};

// One collective to which a rank came late.
struct LateCase {
  std::uint32_t collective = 0;  // index into Matching::collectives
  std::uint32_t unit = 0;
  std::uint32_t position = 0;  // of the collective in its unit
  double late_ns = 0;
};

struct Lateness {
  std::vector<Unit> units;                   // by time
  std::vector<std::vector<double>> own_ns;   // by rank and place in its list; -1: the first one
  std::vector<std::vector<LateCase>> cases;  // by rank: where it came late by its own doing
  double spread_ns = 0;  // how far units of one rank lie from what is usual of it (median rank)
  double single_ns = 0;  // median of what is largest in a unit: how late anybody comes at times
  double unit_ns = 0;    // median length of a unit
};

// A rank's lateness is its begin less the median begin of the others, but never more than its time
// since its last collective exceeds theirs, nor than its time outside collectives since the last
// one of the same group does: who is late because it waited elsewhere, or because its turn comes
// last, is not to blame.
Lateness find_lateness(const Chains& chains, const Operations& operations, const Matching& matching,
                       const std::vector<Measure>& measures);

}  // namespace teller::horizontal_detail
