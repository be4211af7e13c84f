#include "simulate/simulate.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "run_folder/run_folder.h"
#include "simulate/demo_stack.h"
#include "simulate/fsdp_stack.h"
#include "simulate/judge.h"
#include "simulate/recording.h"
#include "simulate/vllm_stack.h"

namespace teller {

using namespace simulate;  // NOLINT: the facade of this folder
using Json = nlohmann::ordered_json;

namespace {

constexpr int kMaxSteps = 5000;  // of one run; more than any load needs

Error usage(const std::string& what, const std::string& hint) {
  return {ErrorCode::kUsage, "simulating a run: " + what, hint};
}

// Takes a number if it is given and within its bounds.
Status take(const char* name, const std::optional<int>& value, int low, int high, int* out) {
  if (!value) return {};
  if (*value < low || *value > high) {
    return usage(std::string(name) + " " + std::to_string(*value) + " is out of range",
                 "it must be " + std::to_string(low) + " to " + std::to_string(high));
  }
  *out = *value;
  return {};
}

// The stack's own limits and load.
Result<EngineConfig> stack_config(const SimulateOptions& options) {
  if (options.stack == "demo") return EngineConfig();
  if (options.stack == "vllm-v1") return vllm_config(options.seed);
  if (options.stack == "fsdp") return fsdp_config(options.seed);
  return usage("no stack is called " + options.stack, "stacks: demo, vllm-v1, fsdp");
}

Result<EngineConfig> config_of(const SimulateOptions& options) {
  TELLER_TRY(EngineConfig config, stack_config(options));
  TELLER_CHECK_OK(take("--requests", options.requests, 1, 1000, &config.requests));
  TELLER_CHECK_OK(take("--clients", options.clients, 1, 1000, &config.clients));
  TELLER_CHECK_OK(take("--max-seqs", options.max_seqs, 1, 1000, &config.max_seqs));
  TELLER_CHECK_OK(take("--token-budget", options.token_budget, 16, 100000, &config.token_budget));
  TELLER_CHECK_OK(
      take("--max-prompt", options.max_prompt, config.min_prompt, 100000, &config.max_prompt));
  TELLER_CHECK_OK(
      take("--max-output", options.max_output, config.min_output, 2000, &config.max_output));
  // At least what the longest request needs.
  const Pool pool;
  const int least = pool.blocks_for(config.max_prompt + config.max_output) + 1;
  TELLER_CHECK_OK(take("--blocks", options.blocks, least, 1000000, &config.blocks));
  TELLER_CHECK_OK(
      take("--ranks", options.ranks, 1, options.stack == "fsdp" ? 8 : 1, &config.ranks));
  TELLER_CHECK_OK(take("--steps", options.steps, 1, kMaxSteps, &config.steps));
  return config;
}

Result<int> request_index(const SimulateOptions& options, const EngineConfig& config) {
  for (int i = 0; i < config.requests; ++i) {
    if (request_id(i) == options.request) return i;
  }
  return usage("--request " + options.request + ": no such request",
               "requests are req-0 to " + request_id(config.requests - 1));
}

Result<const MechanismInfo*> mechanism_of(const SimulateOptions& options) {
  if (!(options.magnitude >= 0 && options.magnitude <= 1)) {
    return usage("--magnitude must be 0 to 1", "0 has no effect, 1 is obvious");
  }
  const MechanismInfo* mechanism = find_mechanism(options.fault);
  if (mechanism == nullptr && options.fault != "none") {
    return usage("no mechanism is called " + options.fault, "see teller simulate --list");
  }
  if (mechanism != nullptr && !has_stack(*mechanism, options.stack)) {
    return usage("mechanism " + options.fault + " does not exist in stack " + options.stack,
                 "see teller simulate --list");
  }
  return mechanism;
}

// How many steps the run has without a fault, and in which one each request was served first.
struct Probe {
  int steps = 0;
  std::vector<int> first_served;
};

Probe probe(const Stack& stack, const EngineConfig& config) {
  Probe out;
  out.first_served.assign(static_cast<std::size_t>(config.requests), 1);
  EngineState state = stack.start();
  while (state.step < kMaxSteps && stack.prepare(state)) {
    StepOutcome outcome = stack.step(state, Fault(), 0);
    for (const Row& row : outcome.plan.served) {
      if (row.computed == 0) {
        out.first_served[static_cast<std::size_t>(row.request)] = outcome.after.step;
      }
    }
    state = std::move(outcome.after);
  }
  out.steps = state.step;
  return out;
}

// When the fault is on, unless it is given. Those that hit one request are on from the start, or
// begin in its life; those that need time to build up, or rare occasions, are on throughout.
void draw_window(const Key& key, const Probe& run, Fault& fault) {
  fault.from_step = 1;
  fault.to_step = kMaxSteps;
  switch (fault.mechanism) {
    case Mechanism::kKvLeak:
    case Mechanism::kLifoAdmission:
      return;
    case Mechanism::kKvPinned:
    case Mechanism::kSlowAttention:
    case Mechanism::kCreditStarvation:
      if (key.with("always").chance(0.65)) return;
      fault.from_step = run.first_served[static_cast<std::size_t>(fault.request)] +
                        static_cast<int>(key.with("from").integer(5, 25));
      return;
    case Mechanism::kMissingCollective:
      fault.from_step = 2 + static_cast<int>(run.steps * key.with("from").between(0.2, 0.8));
      return;
    default:
      if (!key.with("always").chance(0.4)) {
        fault.from_step += static_cast<int>(run.steps * key.with("from").between(0, 0.6));
      }
      if (!key.with("to end").chance(0.5)) {
        fault.to_step =
            fault.from_step + static_cast<int>(run.steps * key.with("length").between(0.15, 0.4));
      }
  }
}

// What is not given is drawn, so that all of it differs from seed to seed.
Result<Fault> fault_of(const SimulateOptions& options, const EngineConfig& config,
                       const Stack& stack) {
  TELLER_TRY(const MechanismInfo* mechanism, mechanism_of(options));
  Fault fault;
  if (mechanism == nullptr) return fault;
  const Key key = Key(options.seed).with("fault").with(options.fault);
  fault.mechanism = mechanism->mechanism;
  fault.magnitude = options.magnitude;
  fault.request =
      static_cast<int>(key.with("request").integer(0, std::max(0, config.requests - 1)));
  fault.rank = static_cast<int>(key.with("rank").integer(0, config.ranks - 1));
  if (!options.request.empty()) {
    TELLER_TRY(fault.request, request_index(options, config));
  }
  TELLER_CHECK_OK(take("--rank", options.rank, 0, config.ranks - 1, &fault.rank));
  draw_window(key, probe(stack, config), fault);
  TELLER_CHECK_OK(take("--to-step", options.to_step, 1, 1 << 30, &fault.to_step));
  if (fault.from_step > fault.to_step) fault.from_step = 1;
  TELLER_CHECK_OK(take("--from-step", options.from_step, 1, 1 << 30, &fault.from_step));
  if (fault.from_step <= fault.to_step) return fault;
  if (!options.to_step) {
    fault.to_step = kMaxSteps;
    return fault;
  }
  return usage("--from-step " + std::to_string(fault.from_step) + " comes after --to-step " +
                   std::to_string(fault.to_step),
               "swap them");
}

Result<std::unique_ptr<Stack>> stack_of(const SimulateOptions& options,
                                        const EngineConfig& config) {
  if (options.stack == "demo") return make_demo_stack(config, options.seed, kMaxSteps);
  if (options.stack == "vllm-v1") return make_vllm_stack(config, options.seed, kMaxSteps);
  return make_fsdp_stack(config, options.seed, kMaxSteps);
}

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

Status write_run(const SimulateOptions& options, Made& made) {
  TELLER_TRY(RunFolder run, RunFolder::create(options.output, "simulate", options.overwrite));
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

}  // namespace

Result<SimulateSummary> simulate_run(const SimulateOptions& options) {
  TELLER_TRY(const EngineConfig config, config_of(options));
  TELLER_TRY(const std::unique_ptr<Stack> stack, stack_of(options, config));
  TELLER_TRY(const Fault fault, fault_of(options, config, *stack));
  const MechanismInfo* mechanism = find_mechanism(options.fault);
  Made made = run_engine(*stack, fault, config,
                         mechanism != nullptr ? mechanism->category : FaultType::kNone);
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
