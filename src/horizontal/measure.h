// Who came when to each collective, who waited, and how long the data took. Private to horizontal/.
#pragma once

#include <cstdint>
#include <vector>

#include "horizontal/clocks.h"
#include "horizontal/match.h"
#include "horizontal/operations.h"

namespace teller::horizontal_detail {

// A rank's part in a collective, on the common clock (ns since its origin).
struct Arrival {
  std::uint32_t rank = 0;  // index into Operations::ranks
  double begin_ns = 0;
  double end_ns = 0;
  double wait_ns = 0;  // from its begin to the last rank's, or its own end if that came before
};

struct Measure {
  std::vector<Arrival> arrivals;  // of members whose clocks are aligned, by rank
  std::uint32_t last = kNoIndex;  // who came last: index into Operations::ranks
  double last_begin_ns = 0;
  double spread_ns = 0;     // last begin less first begin
  double transfer_ns = -1;  // from the last begin to the median end; -1 unknown
  double bus_bytes_per_s = -1;
  bool open = false;  // a member had not ended
  // A rank came after others had left, which cannot be: a time in the trace is wrong, or what was
  // matched is not one collective. Nothing is concluded from it.
  bool impossible = false;
};

// One Measure per collective of `matching`. Of a collective with fewer than two aligned members
// only `arrivals` and `open` are filled.
std::vector<Measure> measure(const Operations& operations, const Matching& matching,
                             const Clocks& clocks);

}  // namespace teller::horizontal_detail
