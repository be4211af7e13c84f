// Prints slices.tcol unit by unit.
#pragma once

#include <iosfwd>

#include "dump/dump.h"
#include "run_folder/run_folder.h"

namespace teller {

// Prints the slices of `run`: each unit, then its members, nodes and edges. `options.limit` counts
// units.
Status dump_slices(const RunFolder& run, const DumpOptions& options, std::ostream& out);

}  // namespace teller
