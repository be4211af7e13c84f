// The chains of a run folder.
#pragma once

#include "run_folder/chains.h"
#include "run_folder/run_folder.h"
#include "teller/result.h"

namespace teller {

// Maps and checks the artefact "chains"; an Error that names the command which makes it, if the run
// has none, or a stale one.
Result<Chains> open_chains(const RunFolder& run);

}  // namespace teller
