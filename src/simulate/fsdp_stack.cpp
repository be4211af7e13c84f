#include "simulate/fsdp_stack.h"

#include <algorithm>
#include <cmath>

#include "simulate/fsdp_step.h"
#include "simulate/gpu_rank.h"
#include "simulate/recording.h"
#include "simulate/step_text.h"

namespace teller::simulate {

namespace {

constexpr std::int64_t kPid = 31200;
constexpr std::int64_t kImportNs = 9'000'000'000;
constexpr int kWarmUpSteps = 3;
constexpr int kLogEvery = 10;

class FsdpStack final : public Stack {
 public:
  FsdpStack(const EngineConfig& config, std::uint64_t seed, int max_steps)
      : config_(config),
        seed_(Key(seed).with("fsdp")),
        machine_(seed_, {0.9, 1.4, 0.004, 0.00002, 0.002, 0.1}, max_steps) {}

  EngineState start() const override {
    EngineState state;
    state.now_ns = kProgramStartNs + kImportNs;
    for (int rank = 0; rank < config_.ranks; ++rank) {
      const Key key = seed_.with("start").with(static_cast<std::uint64_t>(rank));
      state.rank_ns.push_back(state.now_ns + key.integer(0, 400'000));
    }
    return state;
  }
  std::int64_t pid(int rank) const override { return kPid + 7 * rank; }
  bool prepare(EngineState& state) const override {
    return state.step < config_.steps && !state.is_hung;
  }

  StepOutcome step(const EngineState& before, const Fault& fault,
                   std::uint64_t salt) const override {
    StepOutcome out;
    out.after = before;
    ++out.after.step;
    const auto number = static_cast<std::uint64_t>(out.after.step);
    double pace = 0.25 * machine_.log_pace(out.after.step, Quantiles(), 0);
    if (out.after.step <= kWarmUpSteps) pace += 1.2 / out.after.step;  // caches fill
    build_fsdp_step(before, config_, fault, machine_,
                    {seed_.with("plan").with(number), seed_.with("draws").with(salt).with(number)},
                    pace, out);
    if (fault.mechanism != Mechanism::kNone) say(fault, out);
    return out;
  }

  void begin(const EngineState& state, Recording& recording) const override;
  void record(const StepOutcome& outcome, const Fault& fault, Recording& recording) const override;
  void end(const EngineState& state, Recording& recording) const override {
    if (state.is_hung) return recording.set_exit(6);
    recording.log(0, state.now_ns + 1'000'000, "[rank0]: INFO training finished");
  }

 private:
  void say(const Fault& fault, StepOutcome& out) const;

  EngineConfig config_;
  Key seed_;
  Machine machine_;
};

constexpr std::uint32_t kTracksPerRank = 3;
constexpr const char* kWarnings[] = {
    "NCCL WARN NET/IB : Got completion with error 12, retrying",
    "WARNING CUDACachingAllocator: an allocation succeeded after cached blocks were freed",
    "WARNING DataLoader: a batch took longer than usual"};

std::string rank_prefix(int rank) {
  return "[rank" + std::to_string(rank) + "]: ";
}

void FsdpStack::begin(const EngineState& state, Recording& recording) const {
  for (int rank = 0; rank < config_.ranks; ++rank) {
    RecordedProcess process;
    process.pid = kPid + 7 * rank;
    process.ppid = kPid - 9;
    process.argv = {"python3", "train.py", "--fsdp", "--steps", std::to_string(config_.steps)};
    process.comm = "python3";
    process.rank = rank;
    process.world_size = config_.ranks;
    process.hook_targets = 4;
    const std::size_t index = recording.add_process(process);
    recording.add_thread(index, process.pid);
    recording.add_stream(index, rank, kComputeStream);
    recording.add_stream(index, rank, kCommStream);
    recording.log(index, state.now_ns - 300'000'000,
                  "[rank" + std::to_string(rank) + "]: INFO process group of " +
                      std::to_string(config_.ranks) + " ranks is ready");
    // Harmless, and in every run.
    if (rank == 0) {
      recording.log(index, state.now_ns - 200'000'000,
                    "[rank0]: WARNING: barrier() is called without device_ids: using the current "
                    "device");
    }
  }
}

void FsdpStack::record(const StepOutcome& outcome, const Fault&, Recording& recording) const {
  const auto track_of = [](const TreeNode& node) {
    const auto first = static_cast<std::uint32_t>(node.rank) * kTracksPerRank;
    if (node.kind != NodeKind::kKernel) return first;
    return first + (node.stream == kComputeStream ? 1U : 2U);
  };
  record_tree(outcome.tree, track_of, recording);
  const int step = outcome.after.step;
  const std::string record =
      R"({"v":1,"engine":"train","step":)" + std::to_string(step) + R"(,"req":[]})";
  for (const TreeNode& node : outcome.tree.nodes) {
    if (node.parent < 0) recording.step_record(track_of(node), node.begin_ns + 500, record);
  }
  const auto number = static_cast<std::uint64_t>(step);
  if (step % kLogEvery == 0 && !outcome.after.is_hung) {
    char text[96];
    const double loss =
        2.1 + 6 * std::exp(-step / 60.0) + 0.03 * seed_.with("loss").with(number).normal();
    std::snprintf(text, sizeof text, "[rank0]: INFO step %d: loss %.4f, %.1f ms", step, loss,
                  static_cast<double>(outcome.latency_ns[0]) / 1e6);
    recording.log(0, outcome.end_ns, text);
  }
  // Warnings that mean nothing come in every run.
  const Key key = seed_.with("warning").with(number);
  if (key.chance(0.02)) {
    const auto text = static_cast<std::size_t>(key.with("text").integer(0, 2));
    const auto rank = static_cast<int>(key.with("rank").integer(0, config_.ranks - 1));
    recording.log(static_cast<std::size_t>(rank), outcome.end_ns - 500'000,
                  rank_prefix(rank) + kWarnings[text]);
  }
  for (const LogLine& line : outcome.lines) {
    recording.log(static_cast<std::size_t>(line.rank), line.time_ns, line.text);
  }
}

// Half of the faulty runs say something; what a slow clock says is misleading.
void FsdpStack::say(const Fault& fault, StepOutcome& out) const {
  const auto number = static_cast<std::uint64_t>(out.after.step);
  const auto add = [&out](int rank, std::int64_t time, const std::string& text) {
    out.lines.push_back({time, rank, rank_prefix(rank) + text});
  };
  for (int rank = 0; out.after.is_hung && rank < config_.ranks; ++rank) {
    if (rank == fault.rank) continue;
    add(rank, out.end_ns - 1'000'000 + 1000 * rank,
        "ERROR Watchdog caught collective operation timeout: ran for 600000 milliseconds before "
        "timing out");
  }
  if (!fault.is_on(fault.mechanism, out.after.step) || !seed_.with("talks").chance(0.5)) return;
  const Key key = seed_.with("fault line").with(number);
  const auto warn = [&](double probability, std::size_t text) {
    if (key.chance(probability)) add(fault.rank, out.end_ns - 700'000, kWarnings[text]);
  };
  if (fault.mechanism == Mechanism::kFlakyLink) warn(0.25 * fault.magnitude, 0);
  if (fault.mechanism == Mechanism::kClockCap) warn(0.06, 0);
  if (fault.mechanism == Mechanism::kAllocatorRetry) warn(0.3, 1);
  if (fault.mechanism == Mechanism::kDataStall) warn(0.2, 2);
}

}  // namespace

EngineConfig fsdp_config(std::uint64_t seed) {
  EngineConfig config;
  config.requests = config.clients = 0;
  config.ranks = Key(seed).with("fsdp ranks").chance(0.5) ? 2 : 4;
  config.steps = 60;
  return config;
}

std::unique_ptr<Stack> make_fsdp_stack(const EngineConfig& config, std::uint64_t seed,
                                       int max_steps) {
  return std::make_unique<FsdpStack>(config, seed, max_steps);
}

}  // namespace teller::simulate
