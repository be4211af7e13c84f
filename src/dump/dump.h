// Prints any file of a run folder as text or as JSON lines: the seam at which tests look at what
// stages write.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>

#include "teller/result.h"

namespace teller {

struct DumpOptions {
  bool json = false;        // one JSON object per line; else text
  std::uint64_t limit = 0;  // records per table or file; 0 = all
  std::string
      artifact;  // "" = everything; else manifest, events, logs, processes, chains, chains.TABLE, …
};

// Prints the run folder, or the single .tev or .tcol file, at `path` to `out`. Fails with kUsage on
// an artefact name that does not exist and with kCorrupt on a file that cannot be read; what can be
// read in part is, with a line that says what was lost.
Status dump(const std::string& path, const DumpOptions& options, std::ostream& out);

}  // namespace teller
