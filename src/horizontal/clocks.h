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
  // Transfers between two ranks that it rests on, of the weakest link to the base; 0 for none.
  std::size_t transfers = 0;
  double offset_ns = 0;       // it is ahead by so much when the base's clock shows the origin
  double drift = 0;           // ns per ns
  double residual_ns = 0;     // median distance of the ends from the line
  double uncertainty_ns = 0;  // of the offset: standard error of the line there
  bool applied = false;       // the offset is larger than the scatter of the ends
  std::string why;            // why it is not aligned
};

struct Clocks {
  std::vector<RankClock> ranks;  // as Operations::ranks
  std::int64_t origin_ns = 0;
  double residual_ns = 0;  // the median over aligned ranks but the reference

  // A time of a rank on its base's clock, in ns since the origin. Bases are not aligned to each
  // other: they have no collective in common.
  double aligned(std::uint32_t rank, std::int64_t time_ns) const;
};

// A rank needs so many to be aligned.
inline constexpr std::size_t kLeastCollectives = 3;

// Whether an offset is more than how ends scatter, or a drift is known.
bool is_worth_applying(const RankClock& clock, double scatter_ns);

// clock_pairs.cpp: ranks and sets of ranks that collectives do not tie to each other are tied by
// their sends and receives, as far as a chain of those leads. Near-linear in the transfers.
void align_by_transfers(const Operations& operations, const Matching& matching, Clocks& clocks);

// Ends of one synchronising collective lie close together on all ranks. Robust: of the ends, fewer
// than a quarter may be anywhere.
Clocks align_clocks(const Operations& operations, const Matching& matching);

}  // namespace teller::horizontal_detail
