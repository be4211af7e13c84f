#include "simulate/demo_stack.h"

#include <cstdio>

#include "simulate/demo_step.h"
#include "simulate/load.h"
#include "simulate/recording.h"
#include "simulate/step_text.h"

namespace teller::simulate {

namespace {

constexpr std::int64_t kPid = 21424;
constexpr std::int64_t kEngineTid = kPid + 273;
constexpr std::int64_t kImportNs = 4'300'000'000;  // until the model is there
constexpr int kStatusEvery = 20;
constexpr int kHookTargets = 18;

class DemoStack final : public Stack {
 public:
  DemoStack(const EngineConfig& config, std::uint64_t seed, int max_steps, const DemoCosts& costs)
      : config_(config),
        seed_(Key(seed).with("demo")),
        number_(seed),
        costs_(costs),
        machine_(seed_, {}, max_steps) {
    constexpr DemoOp kGemms[] = {kMlp, kQkvProjection, kOutputProjection};
    slow_gemm_ = kGemms[seed_.with("gemm").integer(0, 9) % 3];
  }

  EngineState start() const override {
    return plan_load(config_, seed_.with("load"), kProgramStartNs + kImportNs + 400'000'000);
  }
  std::int64_t pid(int) const override { return kPid; }
  bool prepare(EngineState& state) const override { return take_arrivals(state); }

  StepOutcome step(const EngineState& before, const Fault& fault,
                   std::uint64_t salt) const override {
    StepOutcome out;
    out.after = before;
    ++out.after.step;
    const auto number = static_cast<std::uint64_t>(out.after.step);
    const Key draws = seed_.with("draws").with(salt).with(number);
    out.plan = schedule(out.after, config_, fault, seed_.with("plan").with(number));
    const std::size_t profile = machine_.is_busy() ? 1 : 0;
    const double pace =
        machine_.log_pace(out.after.step, costs_.pace[profile], costs_.pace_correlation[profile]);
    const DemoTimer timer(costs_, machine_, draws, seed_.with("losses").with(number), pace);
    build_demo_step(timer, fault, slow_gemm_, out);
    out.finished = finish_step(out.after, config_, out.plan, fault);
    for (const int request : out.finished) {
      answer(out.after, config_, seed_.with("load"), request);
    }
    return out;
  }

  void begin(const EngineState& state, Recording& recording) const override;
  void record(const StepOutcome& outcome, const Fault& fault, Recording& recording) const override;
  void end(const EngineState& state, Recording& recording) const override;

 private:
  void warm_up(Recording& recording, std::uint32_t track) const;

  EngineConfig config_;
  Key seed_;
  std::uint64_t number_;
  const DemoCosts& costs_;
  Machine machine_;
  DemoOp slow_gemm_ = kMlp;
};

constexpr std::uint32_t kMainTrack = 0;
constexpr std::uint32_t kEngineTrack = 1;

// Six dummy batches without requests, the first of them slow.
void DemoStack::warm_up(Recording& recording, std::uint32_t track) const {
  std::int64_t now = kProgramStartNs + kImportNs;
  recording.push(track, now, "warm up", Layer::kFrontEnd);
  for (int round = 0; round < 6; ++round) {
    StepOutcome out;
    out.after.now_ns = now;
    const bool prefill = round % 2 == 0;
    out.plan.tokens = prefill ? 63 : 1;
    out.plan.served.push_back({0, prefill ? RowKind::kPrefill : RowKind::kDecode, out.plan.tokens});
    const double pace = machine_.log_pace(0, costs_.pace[0], 0.5) + (round == 0 ? 1.6 : 0);
    const Key draws = seed_.with("warm up").with(static_cast<std::uint64_t>(round));
    const DemoTimer timer(costs_, machine_, draws, draws.with("losses"), pace);
    build_demo_step(timer, Fault(), slow_gemm_, out);
    // The engine's own ranges and those that name a request are not there yet.
    std::erase_if(out.tree.nodes, [](const TreeNode& node) {
      return node.layer == Layer::kStep || node.request >= 0 ||
             std::string_view(node.name) == "update requests";
    });
    std::vector<std::int64_t> ends;
    for (const TreeNode& node : out.tree.nodes) {
      while (!ends.empty() && ends.back() <= node.begin_ns) {
        recording.pop(track, ends.back());
        ends.pop_back();
      }
      recording.push(track, node.begin_ns, node.name, node.layer);
      ends.push_back(node.end_ns);
    }
    for (; !ends.empty(); ends.pop_back()) recording.pop(track, ends.back());
    now = out.end_ns;
  }
  recording.pop(track, now);
}

void DemoStack::begin(const EngineState& state, Recording& recording) const {
  RecordedProcess process;
  process.pid = kPid;
  process.ppid = kPid - 4;
  process.argv = {"python3", "-m", "examples.demo_engine", "--seed", std::to_string(number_)};
  process.comm = "python";
  process.hook_targets = kHookTargets;
  recording.add_process(process);
  recording.add_thread(0, kPid);
  recording.add_thread(0, kEngineTid);
  warm_up(recording, kMainTrack);
  const int port = 30000 + static_cast<int>(seed_.with("port").integer(0, 20000));
  recording.log(0, state.now_ns - 5'000'000,
                "INFO " + Recording::clock_text(state.now_ns) +
                    " [server.py:48] Listening on http://127.0.0.1:" + std::to_string(port));
}

void DemoStack::record(const StepOutcome& outcome, const Fault&, Recording& recording) const {
  const auto track_of = [](const TreeNode&) { return kEngineTrack; };
  record_tree(outcome.tree, track_of, recording);
  recording.step_record(kEngineTrack, outcome.record_ns,
                        step_record_json(outcome, config_, "demo"));
  const EngineState& state = outcome.after;
  const auto say = [&recording](std::int64_t time, const std::string& level,
                                const std::string& place, const std::string& text) {
    recording.log(0, time, level + " " + Recording::clock_text(time) + " [" + place + "] " + text);
  };
  for (const Row& row : outcome.plan.preempted) {
    say(outcome.record_ns - 30'000, "WARNING", "scheduler.py:143",
        "Preempting request " + request_id(row.request) + ": no free KV block (" +
            std::to_string(row.free_blocks) + "/" + std::to_string(state.pool.total) +
            " free), it held " + std::to_string(row.held_blocks));
  }
  for (const int request : outcome.finished) {
    const Request& one = state.requests[static_cast<std::size_t>(request)];
    say(outcome.end_ns, "INFO", "engine.py:167",
        "Finished request " + request_id(request) + ": " + std::to_string(one.output) + " tokens");
  }
  if (state.step % kStatusEvery == 0) {
    say(outcome.end_ns, "INFO", "engine.py:181",
        "step " + std::to_string(state.step) + ": running " + std::to_string(state.running.size()) +
            ", waiting " + std::to_string(state.waiting.size()) + ", kv " +
            std::to_string(state.pool.total - state.pool.free) + "/" +
            std::to_string(state.pool.total) + " blocks");
  }
}

// The requests' way through the server, and the answers at the end.
void DemoStack::end(const EngineState& state, Recording& recording) const {
  for (std::size_t i = 0; i < state.requests.size(); ++i) {
    const Request& one = state.requests[i];
    const std::string id = request_id(static_cast<int>(i));
    if (one.arrival < 0) continue;
    const std::uint32_t track = recording.add_thread(0, kEngineTid + 10 + one.arrival);
    const std::int64_t at = one.arrived_ns;
    recording.push(track, at, "http completion request=" + id, Layer::kFrontEnd);
    recording.push(track, at + 3'200, "tokenize", Layer::kFrontEnd);
    recording.pop(track, at + 10'100);
    recording.log(0, at + 150'000,
                  "INFO " + Recording::clock_text(at) + " [engine.py:92] Received request " + id +
                      ": prompt " + std::to_string(one.prompt) + " tokens, max " +
                      std::to_string(one.max_tokens) + " tokens");
    if (one.stage != Stage::kDone) continue;
    const std::int64_t done = one.done_ns + 300'000;
    recording.push(track, done, "detokenize request=" + id, Layer::kFrontEnd);
    recording.pop(track, done + 29'000);
    recording.pop(track, done + 31'000);
    char text[96];
    std::snprintf(text, sizeof text, "%s: %d tokens, %.2f s", id.c_str(), one.output,
                  static_cast<double>(one.done_ns - at) / 1e9);
    recording.log(0, state.now_ns + 20'000'000, text);
  }
  recording.log(0, state.now_ns + 20'000'000,
                std::to_string(state.requests.size()) + " requests, 0 failed, " +
                    std::to_string(state.step) + " steps");
}

}  // namespace

Result<std::unique_ptr<Stack>> make_demo_stack(const EngineConfig& config, std::uint64_t seed,
                                               int max_steps) {
  const Result<DemoCosts>& costs = demo_costs();
  if (!costs) return costs.error();
  return std::unique_ptr<Stack>(
      std::make_unique<DemoStack>(config, seed, max_steps, costs.value()));
}

}  // namespace teller::simulate
