// Learns what is expected: from healthy runs, from a baseline file, or from the run itself.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "run_folder/run_folder.h"
#include "slice/baseline.h"
#include "slice/findings.h"
#include "slice/slice.h"

namespace teller::slice_detail {

// A run that is judged or learnt from. `chains` outlives it.
struct LearnRun {
  std::string name;
  std::string digest;  // of its chains; "" where unknown
  const Chains* chains = nullptr;
  std::vector<Observation> observations;
  std::vector<SideValue> sides;
};

LearnRun learn_run(const Chains& chains, KeyTable& keys, std::string name, std::string digest);

// The digest of a run's artefact "chains"; "" where the manifest has none.
std::string digest_of(const RunFolder& run);

// {name, chains, steps, requests} of a run that was learnt from.
Json run_json(const LearnRun& run);

// Expectations of healthy runs. What a run shows against itself is not in it: first_effect is of
// these runs alone until add_own_first() adds those of the run at hand.
Baseline learn_healthy(const std::vector<const LearnRun*>& runs, const KeyTable& keys,
                       const SliceOptions& options);

// Lets the run at hand help with what comes of being first in a step: a defect of one request does
// not move a median over requests.
void add_own_first(Baseline& baseline, const LearnRun& own, const KeyTable& keys);

struct Learnt {
  Baseline baseline;
  Json provenance;  // "baseline" of findings.json
  std::vector<std::string> notes;
};

// Learns as the options say, and writes the baseline file that they ask for.
Result<Learnt> learn(const LearnRun& own, KeyTable& keys, const SliceOptions& options);

}  // namespace teller::slice_detail
