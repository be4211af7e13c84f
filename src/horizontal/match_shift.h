// Where one rank's sequence of operations begins within another's. Private to horizontal/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace teller::horizontal_detail {

// Operations of one rank, in its order.
struct Sequence {
  // ns on the rank's clock, within ± kTimeLimitNs; not in order where operations overlap.
  std::vector<std::int64_t> ends;
  std::vector<std::uint64_t> calls;  // what is called: equal for what may be one collective
};

enum class ShiftBy {
  kTimes,      // the differences of ends scatter plainly least there
  kClocks,     // several places fit, and at one of them the clocks agree
  kAmbiguous,  // several places fit; nothing tells which
};

struct Shift {
  std::ptrdiff_t by = 0;  // operation i of the one is i + by of the reference
  ShiftBy how = ShiftBy::kTimes;
  double agreement = 1;  // the part of the operations that meet whose calls are equal
};

// Ends of one collective differ by the clocks' offset, which is nearly constant: the right shift is
// the one at which the differences of ends scatter least, among those at which the calls agree.
// Clocks of one host are believed sooner than others. Near-linear in both lengths.
Shift find_shift(const Sequence& reference, const Sequence& sequence, bool same_host);

}  // namespace teller::horizontal_detail
