// What a rank did while the others waited for it. Private to horizontal/.
#pragma once

#include <string>
#include <vector>

#include "horizontal/lateness.h"
#include "horizontal/match.h"
#include "horizontal/operations.h"
#include "run_folder/chains.h"

namespace teller::horizontal_detail {

enum class Doing {
  kUnknown,     // nothing that was recorded takes longer than on its peers
  kData,        // loads data
  kGarbage,     // collects garbage
  kCheckpoint,  // saves or loads state
  kCompute,     // operators on the host
  kDevice,      // kernels
  kPython,      // Python functions of no known purpose
  kNothing,     // no operator, call or function was recorded: the interpreter itself, a system call
};

struct DoingFound {
  Doing doing = Doing::kUnknown;
  std::string name;      // of the range or kernel that takes most of it; "" where there is none
  double share = 0;      // of the lateness that it explains, 0..1
  double excess_ns = 0;  // more than its peers, per case looked at
  std::size_t cases = 0;
};

// In words: "data loading".
const char* doing_words(Doing doing);
// What a name says of its purpose; kUnknown for most.
Doing doing_of_name(std::string_view name);

// Compares what the rank's threads and device did before the collectives to which it came latest
// with what its peers did before the same ones. Linear in the nodes of these sources.
DoingFound find_doing(const Chains& chains, const Operations& operations, const Matching& matching,
                      const Lateness& lateness, std::uint32_t rank);

}  // namespace teller::horizontal_detail
