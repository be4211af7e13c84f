// Findings as JSON, format "teller.findings" (docs/localise.md).
#pragma once

#include "run_folder/locator.h"
#include "slice/findings.h"
#include "slice/operators.h"

namespace teller::slice_detail {

// Whether the run held anything that can be judged: rows of a scheduler, or operators with an
// expected value. If not, that nothing stands out says nothing.
bool anything_judged(const Case& c);

// Everything but "options" and "baseline", which the caller knows. Sorts what is ranked.
Json findings_json(const Case& c, const RunName& run, Findings findings);

// Whether anything makes the run suspicious.
bool is_suspicious(const Findings& findings);

}  // namespace teller::slice_detail
