// Data sets: many runs that differ in seed, load, stack, mechanism and magnitude.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "simulate/draw.h"
#include "simulate/mechanisms.h"
#include "simulate/simulate.h"

namespace teller {

using simulate::find_mechanism;
using simulate::has_stack;
using simulate::Key;
using simulate::MechanismInfo;
using Json = nlohmann::ordered_json;

namespace {

constexpr int kMaxRuns = 100'000;

Error usage(const std::string& what, const std::string& hint) {
  return {ErrorCode::kUsage, "simulating a data set: " + what, hint};
}

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Mechanisms of a stack, by category, that may be used.
std::vector<std::vector<const MechanismInfo*>> choices(const DataSetOptions& options,
                                                       const std::string& stack) {
  std::vector<std::vector<const MechanismInfo*>> out;
  for (std::size_t type = 1; type < kFaultTypeCount; ++type) {
    std::vector<const MechanismInfo*> of_type;
    for (const MechanismInfo& one : simulate::all_mechanisms()) {
      const bool wanted = options.only.empty() || contains(options.only, one.name);
      if (static_cast<std::size_t>(one.category) == type && has_stack(one, stack) && wanted &&
          !contains(options.without, one.name)) {
        of_type.push_back(&one);
      }
    }
    if (!of_type.empty()) out.push_back(std::move(of_type));
  }
  return out;
}

Status check(const DataSetOptions& options) {
  if (options.runs < 1 || options.runs > kMaxRuns) {
    return usage("--runs " + std::to_string(options.runs) + " is out of range",
                 "it must be 1 to " + std::to_string(kMaxRuns));
  }
  if (!(options.faulty_share >= 0 && options.faulty_share <= 1)) {
    return usage("--faulty-share must be 0 to 1", "0.6 makes six of ten runs faulty");
  }
  for (const std::vector<std::string>* names : {&options.only, &options.without}) {
    for (const std::string& name : *names) {
      if (find_mechanism(name) == nullptr) {
        return usage("no mechanism is called " + name, "see teller simulate --list");
      }
    }
  }
  for (const std::string& stack : options.stacks) {
    if (stack != "demo" && stack != "vllm-v1" && stack != "fsdp") {
      return usage("no stack is called " + stack, "stacks: demo, vllm-v1, fsdp");
    }
    if (options.faulty_share > 0 && choices(options, stack).empty()) {
      return usage("of the mechanisms to draw from, none exists in stack " + stack,
                   "see teller simulate --list; --faulty-share 0 makes healthy runs");
    }
  }
  if (options.stacks.empty()) {
    return usage("--stacks names none", "stacks: demo, vllm-v1, fsdp");
  }
  return {};
}

// Half of the runs have the demo's own load and limits.
void vary_load(const Key& key, SimulateOptions& run) {
  if (run.stack != "demo" || key.with("default load").chance(0.5)) return;
  const auto draw = [&key](const char* name, int low, int high) {
    return static_cast<int>(key.with(name).integer(low, high));
  };
  run.requests = draw("requests", 10, 24);
  run.clients = draw("clients", 5, 14);
  run.max_prompt = draw("prompt", 180, 480);
  run.max_output = draw("output", 90, 130);
  run.token_budget = draw("budget", 5, 16) * 16;
  if (key.with("small pool").chance(0.4)) run.blocks = draw("blocks", 120, 190);
}

SimulateOptions plan_run(const DataSetOptions& options, int index) {
  const Key key = Key(options.seed).with("data set").with(static_cast<std::uint64_t>(index));
  SimulateOptions run;
  char name[32];
  std::snprintf(name, sizeof name, "run-%04d", index);
  run.output = options.folder + "/" + name;
  run.overwrite = options.overwrite;
  run.stack = options.stacks[static_cast<std::size_t>(index) % options.stacks.size()];
  run.seed = key.bits() >> 16;
  vary_load(key.with("load"), run);
  const auto categories = choices(options, run.stack);
  if (categories.empty() || !key.with("faulty").chance(options.faulty_share)) return run;
  const auto pick = [&key](const char* what, std::size_t count) {
    return static_cast<std::size_t>(
        key.with(what).integer(0, static_cast<std::int64_t>(count) - 1));
  };
  const auto& of_type = categories[pick("category", categories.size())];
  run.fault = of_type[pick("mechanism", of_type.size())]->name;
  run.magnitude = key.with("magnitude").between(0.15, 1);
  return run;
}

Status write_list(const DataSetOptions& options, const std::string& lines) {
  return write_file_atomic(options.folder + "/runs.jsonl", lines);
}

}  // namespace

Result<int> simulate_data_set(const DataSetOptions& options,
                              const std::function<void(int)>& progress,
                              const std::atomic<bool>& stop) {
  TELLER_CHECK_OK(check(options));
  std::error_code error;
  std::filesystem::create_directories(options.folder, error);
  if (error) {
    return Error{ErrorCode::kIo, "creating " + options.folder + ": " + error.message(), ""};
  }
  std::string lines;
  for (int i = 0; i < options.runs; ++i) {
    if (stop) {
      TELLER_CHECK_OK(write_list(options, lines));
      return Error{ErrorCode::kInterrupted,
                   "simulating a data set: stopped after " + std::to_string(i) + " runs",
                   "these are whole"};
    }
    const SimulateOptions run = plan_run(options, i);
    const Result<SimulateSummary> made = simulate_run(run);
    if (!made) return made.error();
    lines += Json({{"name", run.output.substr(options.folder.size() + 1)},
                   {"stack", run.stack},
                   {"seed", run.seed}})
                 .dump() +
             "\n";
    progress(i + 1);
  }
  TELLER_CHECK_OK(write_list(options, lines));
  return options.runs;
}

}  // namespace teller
