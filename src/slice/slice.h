// The stage `slice`, first part: finds which requests, operators and instances of a run deviate,
// and why. Reads the artefact "chains" of the run and of its baselines, writes "findings". What it
// computes, and every threshold: docs/localise.md.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "run_folder/run_folder.h"
#include "teller/result.h"

namespace teller {

// Options that shape the findings; all but the baselines are stored with them.
struct SliceOptions {
  std::vector<std::string> baselines;  // run folders of healthy runs of the same deployment
  double min_ratio = 1.5;  // an operator of a request is slow from this ratio to its mates on
  double min_family_ratio = 2.0;          // the same for a family against the baseline
  double min_run_ratio = 5.0;             // the same for all operators together
  double min_z = 5.0;                     // and from this many standard errors on
  std::uint32_t min_steps = 8;            // and if it shows in this many steps
  std::uint32_t min_passed_over = 8;      // a request is passed over from this many steps on
  std::uint32_t min_preemptions = 3;      // a request is preempted too often from this count on
  std::uint32_t min_baseline_steps = 20;  // steps of a kind that an expected value needs
  std::uint32_t max_instances = 50;       // deviating instances to keep
};

// What slice() found: the content of findings.json.
struct SliceResult {
  bool suspicious = false;
  // Owned by the result; format "teller.findings", docs/localise.md.
  std::shared_ptr<const nlohmann::ordered_json> findings;
};

// Localises in `run` and publishes the artefact "findings".
Result<SliceResult> slice(RunFolder& run, const SliceOptions& options);

}  // namespace teller
