// Prints slices.tcol unit by unit.
#pragma once

#include <iosfwd>
#include <string>

#include "dump/dump.h"
#include "run_folder/run_folder.h"

namespace teller {

// Prints the slices of `run`: each unit, then its members, nodes and edges. `options.limit` counts
// units.
Status dump_slices(const RunFolder& run, const DumpOptions& options, std::ostream& out);
// The same for the slices at `path`, which belong to the chains at `chains_path`.
Status dump_slices(const std::string& path, const std::string& chains_path,
                   const DumpOptions& options, std::ostream& out);

}  // namespace teller
