// Signs that concern the run as a whole: calls that failed, and what had not ended.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "slice/findings.h"

namespace teller::slice_detail {

// Failed calls per step, by family and code, of a healthy run.
using FailureRates = std::map<std::pair<std::string, std::int64_t>, double>;
FailureRates failure_rates(const Chains& chains);

// Adds failed calls that the baseline does not have as often, and open nodes. `usual` is null
// without a baseline: then only failures count that lie in steps, near the end, or break a context.
// `broke_off`: the program did not end by itself, which makes an open step a finding.
void judge_run(const Chains& chains, const FailureRates* usual, bool broke_off, Findings& findings);

}  // namespace teller::slice_detail
