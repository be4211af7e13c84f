#include "simulate/simulate.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>

#include "run_folder/run_folder.h"
#include "simulate/judge.h"
#include "simulate/recording.h"
#include "simulate/setup.h"

namespace teller {

using namespace simulate;  // NOLINT: the facade of this folder
using Json = nlohmann::ordered_json;

namespace {

RunLabel run_label(const SimulateOptions& options, const EngineConfig& config) {
  RunLabel label;
  label.stack = options.stack;
  label.workload =
      std::to_string(config.requests) + " requests, " + std::to_string(config.clients) + " clients";
  label.seed = options.seed;
  const MechanismInfo* mechanism = find_mechanism(options.fault);
  label.mechanism = "none";
  if (mechanism == nullptr) return label;
  label.mechanism = mechanism->name;
  label.resource = mechanism->resource;
  label.magnitude = options.magnitude;
  return label;
}

// The requests that cause steps concern; of a slow attention, the one that takes the kernel.
void label_requests(const Fault& fault, const EngineState& state, const std::vector<int>& harmed,
                    Labels& labels) {
  for (int i = 0; i < static_cast<int>(state.requests.size()); ++i) {
    RequestLabel label;
    label.request = request_id(i);
    const bool is_culprit =
        labels.run.is_fault && fault.mechanism == Mechanism::kSlowAttention && i == fault.request;
    if (is_culprit) label.role = "culprit";
    if (std::find(harmed.begin(), harmed.end(), i) != harmed.end()) label.role = "victim";
    label.is_fault = !label.role.empty();
    if (label.is_fault) label.fault_type = labels.run.fault_type;
    labels.requests.push_back(label);
  }
}

struct Made {
  Recording recording;
  Labels labels;
  EngineState last;
  SimulateSummary summary;
};

void count(const StepLabel& label, SimulateSummary& summary) {
  summary.cause_steps += label.state == StepState::kCause;
  summary.weak_steps += label.state == StepState::kWeak;
  summary.affected_steps += label.state == StepState::kAffected;
}

Made run_engine(const Stack& stack, const Fault& fault, const EngineConfig& config,
                const FaultType category) {
  Made made;
  EngineState state = stack.start();
  stack.begin(state, made.recording);
  Judge judge(stack, fault, config);
  while (state.step < kMaxSteps && stack.prepare(state)) {
    StepOutcome outcome = stack.step(state, fault, 0);
    for (StepLabel& label : judge.label(state, outcome)) {
      if (label.state == StepState::kCause) label.fault_type = category;
      count(label, made.summary);
      made.labels.steps.push_back(std::move(label));
    }
    stack.record(outcome, fault, made.recording);
    state = std::move(outcome.after);
    ++made.summary.steps;
  }
  stack.end(state, made.recording);
  made.last = std::move(state);
  made.labels.run.is_fault = made.summary.cause_steps > 0;
  made.labels.run.fault_type = made.labels.run.is_fault ? category : FaultType::kNone;
  label_requests(fault, made.last, judge.harmed(), made.labels);
  return made;
}

Status fill_run(const SimulateOptions& options, Made& made, RunFolder& run) {
  TELLER_CHECK_OK(made.recording.write(run, made.last.now_ns + 1'200'000'000));
  TELLER_CHECK_OK(write_labels(run.file("labels.jsonl"), made.labels));
  ArtifactInfo labels;
  labels.name = "labels";
  labels.made_by = "simulate";
  labels.files = {"labels.jsonl"};
  labels.records = 1 + made.labels.requests.size() + made.labels.steps.size();
  labels.options_json = Json({{"seed", options.seed}, {"stack", options.stack}}).dump();
  TELLER_CHECK_OK(run.publish(labels));
  run.set_state("sealed");
  return run.save();
}

// Writes the whole run, or none.
Status write_run(const SimulateOptions& options, Made& made) {
  TELLER_TRY(RunFolder run, RunFolder::create(options.output, "simulate", options.overwrite));
  Status status = fill_run(options, made, run);
  if (!status) {
    std::error_code ignored;
    std::filesystem::remove_all(options.output, ignored);
  }
  return status;
}

}  // namespace

Result<SimulateSummary> simulate_run(const SimulateOptions& options) {
  TELLER_TRY(const EngineConfig config, config_of(options));
  TELLER_TRY(const std::unique_ptr<Stack> stack, stack_of(options, config));
  TELLER_TRY(const Fault fault, fault_of(options, config, *stack));
  const MechanismInfo* mechanism = find_mechanism(options.fault);
  Made made = run_engine(*stack, fault, config,
                         mechanism != nullptr ? mechanism->category : FaultType::kNone);
  if (made.last.step >= kMaxSteps) {
    return Error{ErrorCode::kUsage,
                 "simulating a run: it does not end within " + std::to_string(kMaxSteps) + " steps",
                 "give fewer requests, or more blocks"};
  }
  const bool is_fault = made.labels.run.is_fault;
  const FaultType type = made.labels.run.fault_type;
  made.labels.run = run_label(options, config);
  made.labels.run.is_fault = is_fault;
  made.labels.run.fault_type = type;
  TELLER_CHECK_OK(write_run(options, made));
  made.summary.run = options.output;
  made.summary.events = made.recording.event_count();
  made.summary.log_lines = made.recording.log_count();
  return made.summary;
}

std::vector<MechanismText> simulate_mechanisms() {
  std::vector<MechanismText> out;
  for (const MechanismInfo& one : all_mechanisms()) {
    MechanismText text{std::string(one.name),
                       std::string(fault_type_name(one.category)),
                       std::string(one.resource),
                       std::string(one.words),
                       {}};
    for (const char* stack : {"demo", "vllm-v1", "fsdp"}) {
      if (has_stack(one, stack)) text.stacks.emplace_back(stack);
    }
    out.push_back(std::move(text));
  }
  return out;
}

}  // namespace teller
