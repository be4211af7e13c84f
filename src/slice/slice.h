// The stage `slice`: finds which requests, operators and instances of a run deviate, and why, and
// cuts each step down to what matters around them. Reads the artefact "chains" of the run and of
// its baselines, writes "findings" (docs/localise.md) and "slices" (docs/slice.md).
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "run_folder/run_folder.h"
#include "slice/relevance.h"
#include "teller/result.h"

namespace teller {

// Options that shape findings and slices; all but the baselines are stored with them.
struct SliceOptions {
  // Run folders of healthy runs of the same deployment, or one baseline file.
  std::vector<std::string> baselines;
  std::string save_baseline;  // file to write what was learnt to; "" for none
  std::string baseline_name;  // of the entry in that file; "": the first healthy run's name
  double min_ratio = 1.5;     // an operator of a request is slow from this ratio to its mates on
  double min_family_ratio = 2.0;          // the same for a family against the baseline
  double min_run_ratio = 5.0;             // the same for all operators together
  double min_z = 5.0;                     // and from this many standard errors on
  std::uint32_t min_steps = 8;            // and if it shows in this many steps
  std::uint32_t min_passed_over = 8;      // a request is passed over from this many steps on
  std::uint32_t min_preemptions = 3;      // a request is preempted too often from this count on
  std::uint32_t min_baseline_steps = 20;  // steps of a kind that an expected value needs
  std::uint32_t max_instances = 50;       // deviating instances to keep
  // Slices alone:
  double suspicion_z = 2.5;  // an instance is suspicious from this deviation on
  slice_detail::RelevanceWeights weights;
  std::uint32_t skeleton_levels = 2;  // levels below STEP that a step without suspicion keeps
  std::uint32_t max_nodes = 256;      // of one unit
};

// What slice() found: the content of findings.json, and counts of what it cut.
struct SliceResult {
  bool suspicious = false;
  std::size_t units = 0;             // slices: one per step and view
  std::size_t horizontal_units = 0;  // of them
  std::size_t suspicious_units = 0;  // that hold a suspicious node
  std::size_t whole_nodes = 0;       // before slicing
  std::size_t kept_nodes = 0;
  std::size_t over_limit = 0;  // nodes that max_nodes left out
  // Owned by the result; format "teller.findings", docs/localise.md.
  std::shared_ptr<const nlohmann::ordered_json> findings;
};

// Localises in `run` and publishes the artefacts "findings" and "slices".
Result<SliceResult> slice(RunFolder& run, const SliceOptions& options);

// An Error unless `path` is a baseline file that slice() can use.
Status check_baseline_file(const std::string& path);

}  // namespace teller
