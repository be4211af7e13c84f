// Judges operators: of single requests against their mates, of families against the baseline, and
// single instances against what is expected of them.
#pragma once

#include <vector>

#include "slice/baseline.h"
#include "slice/findings.h"
#include "slice/observations.h"
#include "slice/slice.h"

namespace teller::slice_detail {

// One run with what is expected of it. Referred-to objects outlive it.
struct Case {
  const Chains& chains;
  const KeyTable& keys;
  const std::vector<Observation>& observations;
  const Baseline& baseline;
  const SliceOptions& options;
};

// Requests whose own operators are slower than their mates' over many steps.
void judge_mates(const Case& c, Findings& findings);

// Families that are slower than the baseline beyond what the whole run is, extra or missing; and
// the run as a whole. Needs an external baseline.
void judge_families(const Case& c, Findings& findings);

// Single instances that deviate most. They alone never make a run suspicious: one slow instance is
// as often the machine's doing as the program's.
void list_instances(const Case& c, Findings& findings);

}  // namespace teller::slice_detail
