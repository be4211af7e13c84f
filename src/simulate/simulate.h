// Makes runs of simulated engines, with or without a fault, and their labels. A run is what `trace`
// would have recorded, plus the artefact "labels". The same options give the same bytes.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "run_folder/labels.h"
#include "teller/result.h"

namespace teller {

struct SimulateOptions {
  std::string output;
  bool overwrite = false;
  std::string stack = "demo";
  std::uint64_t seed = 0;
  std::string fault = "none";             // a mechanism's name
  double magnitude = 0.6;                 // 0 (no effect) to 1 (obvious)
  std::optional<int> from_step, to_step;  // of the fault, both included; drawn where not given
  std::optional<int> rank;                // whom it hits; drawn where not given
  std::string request;
  // Of the load and the engine; those of the stack where not given.
  std::optional<int> max_prompt, max_output, requests, clients, blocks, max_seqs, token_budget,
      ranks, steps;
};

struct SimulateSummary {
  std::string run;
  std::uint64_t steps = 0, cause_steps = 0, weak_steps = 0, affected_steps = 0;
  std::uint64_t events = 0, log_lines = 0;
};

// Errors: kUsage for options that make no sense; those of writing a run.
Result<SimulateSummary> simulate_run(const SimulateOptions& options);

struct MechanismText {
  std::string name, category, resource, words;
  std::vector<std::string> stacks;
};
// What --fault takes.
std::vector<MechanismText> simulate_mechanisms();

struct DataSetOptions {
  std::string folder;
  bool overwrite = false;
  int runs = 0;
  std::uint64_t seed = 0;
  std::vector<std::string> stacks = {"demo"};
  double faulty_share = 0.6;
  std::vector<std::string> only, without;  // mechanisms
};

// Writes FOLDER/run-0000 … and FOLDER/runs.jsonl. `progress` is told how many runs are done; once
// `stop` is set, the run in hand is finished, the list is written, and kInterrupted returned.
Result<int> simulate_data_set(const DataSetOptions& options,
                              const std::function<void(int)>& progress,
                              const std::atomic<bool>& stop);

}  // namespace teller
