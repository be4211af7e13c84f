// Cuts the slices of a run: one unit per step and view. docs/slice.md.
#pragma once

#include <cstddef>

#include "run_folder/slices.h"
#include "slice/operators.h"

namespace teller::slice_detail {

// What was cut, for the summary.
struct CutCounts {
  std::size_t whole_nodes = 0;       // of all units' trees
  std::size_t kept_nodes = 0;        // nodes of the slices, ghosts included
  std::size_t suspicious_nodes = 0;  // in I_s, ghosts included
  std::size_t suspicious_units = 0;  // units that hold any
  std::size_t over_limit = 0;        // nodes that only --max-nodes left out
};

// The slices of every step.
SlicesBuilder cut_slices(const Case& c, const Findings& findings, CutCounts& counts);

}  // namespace teller::slice_detail
