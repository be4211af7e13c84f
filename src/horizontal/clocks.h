// The clocks of ranks against each other, from the ends of the collectives that they share. Private
// to horizontal/.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "horizontal/match.h"
#include "horizontal/operations.h"

namespace teller::horizontal_detail {

// How one rank's clock stands to that of its base, the first rank with which it shares collectives,
// through others too: on the base's clock a time of this rank is
//   origin + (1 − drift) · (time − origin − offset_ns).
struct RankClock {
  bool aligned = false;
  bool reference = false;       // others are aligned to this one
  std::uint32_t base = 0;       // index into Operations::ranks; for aligned ones
  bool drift_known = false;     // enough time passed to tell; else drift is 0
  std::size_t collectives = 0;  // that the estimate rests on
  double offset_ns = 0;         // it is ahead by so much when the base's clock shows the origin
  double drift = 0;             // ns per ns
  double residual_ns = 0;       // median distance of the ends from the line
  double uncertainty_ns = 0;    // of the offset: standard error of the line there
  bool applied = false;         // the offset is larger than the scatter of the ends
  std::string why;              // why it is not aligned
};

struct Clocks {
  std::vector<RankClock> ranks;  // as Operations::ranks
  std::int64_t origin_ns = 0;
  double residual_ns = 0;  // the median over aligned ranks but the reference

  // A time of a rank on its base's clock, in ns since the origin. Bases are not aligned to each
  // other: they have no collective in common.
  double aligned(std::uint32_t rank, std::int64_t time_ns) const;
};

// Ends of one synchronising collective lie close together on all ranks. Robust: of the ends, fewer
// than a quarter may be anywhere.
Clocks align_clocks(const Operations& operations, const Matching& matching);

}  // namespace teller::horizontal_detail
