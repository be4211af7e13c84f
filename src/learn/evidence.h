// Evidence of a verdict: operators and log lines whose removal makes the model less sure.
#pragma once

#include <cstdint>
#include <vector>

#include "learn/verdict.h"

namespace teller::learn_detail {

struct Evidence {
  std::size_t unit = 0;  // place in Judged
  bool is_log = false;
  std::uint32_t token = 0;  // of the run (nodes)
  std::uint32_t line = 0;   // of the run's logs (log lines)
  double drop = 0;          // fall of the log odds of the verdict when it is neutralised; > 0
  NodeFeatures features{};  // of the token
};

// Looks at the strongest units of the verdict, and there at the tokens pointed to most and at the
// log lines. A token is neutralised by setting its deviations to 0 and its name to <unk>, a line by
// leaving its words out. Largest drop first; what does not lower the log odds is not evidence.
std::vector<Evidence> find_evidence(const Network& network, const Judged& judged,
                                    const RunVerdict& verdict, const Thresholds& thresholds);

}  // namespace teller::learn_detail
