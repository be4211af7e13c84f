// Which operations of different ranks are one collective. Private to horizontal/.
#pragma once

#include <cstdint>
#include <vector>

#include "horizontal/operations.h"

namespace teller::horizontal_detail {

// A rank's part in a collective.
struct Member {
  std::uint32_t rank = 0;  // index into Operations::ranks
  std::uint32_t at = 0;    // index into its list
};

struct Collective {
  std::vector<Member> members;        // by rank, each rank once; at least one
  std::vector<std::uint32_t> absent;  // ranks of its group, recorded in this run, without it
  Member shown;                       // the one that says most of what it is
  bool by_sequence = false;           // else by order
  bool mismatched = false;            // members call different operations or sizes
};

struct Matching {
  std::vector<Collective> collectives;  // by the first member's begin
  std::uint64_t duplicates = 0;         // operations that repeat a rank's group, sequence and kind
  std::uint64_t mixed_groups = 0;       // groups whose numbers do not serve, though there are some
  // Sequences of a rank without numbers that fit those of another at several places: placed where
  // the clocks agree, and those for which nothing tells.
  std::uint64_t by_clocks = 0, ambiguous = 0;
  std::uint64_t restarts = 0;  // times at which a rank's numbers of a group begin anew
};

// Whether two ranks called something else in one place: other operations, or other sizes where they
// have to be equal and both are known for sure.
bool are_different_calls(const Interner& texts, const Operation& one, const Operation& other);

// Ranks of a group number its operations alike: where these numbers are recorded they decide.
// Elsewhere the n-th operation of one group, kind and size is the same on all ranks; ranks whose
// windows begin later are moved to where the operations' ends fit best. Transfers between two ranks
// are matched by order alone, for each end numbers its own; one whose other end is not known stays
// alone. Near-linear.
Matching match(const Operations& operations);

}  // namespace teller::horizontal_detail
