// Slices of a run for tests: random nodes of each step, some suspicious, some ghosts.
#pragma once

#include <random>
#include <string>

#include "run_folder/chains.h"
#include "run_folder/slices.h"
#include "teller/result.h"

namespace teller::testing {

// One vertical unit per step and one horizontal unit over the first two steps, whose members are
// given ranks 0 and 1. `keep` of 10 nodes are kept.
SlicesBuilder random_slices(const Chains& chains, std::mt19937& random, unsigned keep);
// Publishes them as the artefact "slices" of the run at `path`.
Status add_slices(const std::string& path, const SlicesBuilder& slices);

}  // namespace teller::testing
