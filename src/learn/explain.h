// The explanation of a verdict in words, filled from what was located: nothing in it is made up.
#pragma once

#include <string>
#include <vector>

#include "learn/evidence.h"

namespace teller::learn_detail {

// Everything that was found of a run.
struct Findings {
  const Judged& judged;
  const RunVerdict& verdict;
  double probability = 0;
  bool comparable = true;  // false: nothing in the run has an expected value, and no fault shows
  std::vector<OperatorVerdict> operators;
  std::vector<RequestVerdict> requests;  // named ones
  std::vector<std::pair<std::int32_t, double>> ranks;
  std::vector<Evidence> evidence;
};

// "memory/resource" for kMemory and so on.
std::string_view fault_type_words(FaultType type);
// What a request is to a fault of this type: "culprit" where its own operators are at fault, else
// "victim".
std::string_view request_role(const Findings& findings, std::uint32_t request);
// Whole sentences: what failed, where, since when, with whom, how sure, what to check next.
std::string explain(const Findings& findings);
// One piece of evidence in words.
std::string describe(const Judged& judged, const Evidence& evidence);

}  // namespace teller::learn_detail
