// Where a command may write a file that its user names.
#pragma once

#include <string>

#include "teller/result.h"

namespace teller {

// Fails (kUsage) if `path` is a file of a run that a command of teller reads: its manifest, a file
// of an artefact, or what is taken for one without standing in the manifest. A report or the like
// beside them is allowed. `path` need not exist.
Status check_output_file(const std::string& path);

}  // namespace teller
