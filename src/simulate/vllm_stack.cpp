#include "simulate/vllm_stack.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "simulate/gpu_rank.h"
#include "simulate/load.h"
#include "simulate/recording.h"
#include "simulate/step_text.h"

namespace teller::simulate {

namespace {

constexpr int kModelLayers = 8;
constexpr std::int64_t kPid = 18200;
constexpr std::int64_t kImportNs = 20'000'000'000;
constexpr int kWarmUpSteps = 4;
constexpr int kLogEvery = 50;

constexpr GpuName kGemm{
    "sm80_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x32_stage4_warpsize2x2x1_"
    "tensor16x8x16_"
    "execute_kernel__5x_cublas",
    "sm80_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize_stage4_warpsize_tensor_execute_kernel__5x_"
    "cublas"};
constexpr GpuName kBadGemm{"cutlass_80_simt_sgemm_128x64_8x5_tn_align1",
                           "cutlass_simt_sgemm_tn_align1"};
constexpr GpuName kNorm{
    "void vllm::fused_add_rms_norm_kernel<c10::BFloat16, 8>(c10::BFloat16*, long, c10::BFloat16*, "
    "c10::BFloat16 const*, float, int, int)",
    "vllm::fused_add_rms_norm_kernel"};
constexpr GpuName kCache{
    "void vllm::reshape_and_cache_flash_kernel<__nv_bfloat16, __nv_bfloat16, "
    "(vllm::Fp8KVCacheDataType)0>(__nv_bfloat16 const*, __nv_bfloat16 const*, __nv_bfloat16*, "
    "__nv_bfloat16*, long const*)",
    "vllm::reshape_and_cache_flash_kernel"};
constexpr GpuName kAttentionKernel{
    "void flash::flash_fwd_splitkv_kernel<Flash_fwd_kernel_traits<128, 64, 128, 4, false, false, "
    "cutlass::bfloat16_t>, false, true>(flash::Flash_fwd_params)",
    "flash::flash_fwd_splitkv_kernel"};
constexpr GpuName kWrongAttention{
    "void vllm::paged_attention_v1_kernel<unsigned short, unsigned short, 128, 16, 128, "
    "(vllm::Fp8KVCacheDataType)0, false>(unsigned short*, unsigned short const*)",
    "vllm::paged_attention_v1_kernel"};
constexpr GpuName kAct{
    "void vllm::act_and_mul_kernel<c10::BFloat16, vllm::silu_kernel<c10::BFloat16>, "
    "true>(c10::BFloat16*, c10::BFloat16 const*, int)",
    "vllm::act_and_mul_kernel"};
constexpr GpuName kArgmax{
    "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, "
    "at::native::ArgMaxOps<float>, unsigned int, long, 4> >(at::native::ReduceOp<float, "
    "at::native::ArgMaxOps<float>, unsigned int, long, 4>)",
    "at::native::reduce_kernel"};

class VllmStep {
 public:
  VllmStep(const Fault& fault, const Machine& machine, const Key& plan, const Key& draws,
           double log_pace, StepOutcome& out)
      : fault_(fault),
        plan_(plan),
        host_(std::exp(log_pace)),
        out_(out),
        step_(out.after.step),
        gpu_(0, out.after.now_ns, draws, machine, static_cast<std::uint64_t>(step_) * 1024 + 1) {}

  void build() {
    gpu_.open("EngineCore.step", Layer::kStep);
    gpu_.open("schedule", Layer::kStep);
    const auto known = static_cast<double>(out_.plan.served.size() + out_.plan.waiting.size());
    gpu_.work("schedule", (90'000 + 9'000 * known) * host_);
    out_.record_ns = gpu_.now() - 1'000;
    gpu_.close();
    if (!out_.plan.served.empty()) run_model();
    gpu_.open("update_from_output", Layer::kFrontEnd);
    gpu_.work("update", (60'000 + 8'000 * known) * host_);
    gpu_.close();
    gpu_.close();
    out_.tree = std::move(gpu_.tree());
    out_.begin_ns = out_.tree.nodes.front().begin_ns;
    out_.end_ns = gpu_.now();
    out_.latency_ns = {out_.end_ns - out_.begin_ns};
    out_.after.now_ns = out_.end_ns + 40'000;
  }

 private:
  bool on(Mechanism mechanism) const { return fault_.is_on(mechanism, step_); }

  void run_model() {
    gpu_.open("execute_model", Layer::kFrontEnd);
    gpu_.open("prepare_inputs", Layer::kFrontEnd);
    gpu_.work("inputs", (180'000 + 6'000 * static_cast<double>(out_.plan.served.size())) * host_);
    gpu_.call("cudaMemcpyAsync", 8'000);
    gpu_.call("cudaMemcpyAsync", 8'000);
    gpu_.close();
    gpu_.open("model_forward", Layer::kBackEnd);
    for (int layer = 0; layer < kModelLayers; ++layer) run_layer(layer);
    gpu_.close();
    gpu_.close();
    gpu_.open("sample_tokens", Layer::kFrontEnd);
    gpu_.work("sample", 70'000 * host_);
    gemm(70'000, 1'200, static_cast<double>(out_.plan.served.size()), false);
    gpu_.launch(kArgmax, 9'000);
    gpu_.synchronise("cudaEventSynchronize");
    gpu_.close();
  }

  void run_layer(int layer) {
    const double tokens = out_.plan.tokens;
    gpu_.launch(kNorm, 3'000 + 12 * tokens);
    gemm(24'000, 190, tokens, false);
    gpu_.launch(kCache, 2'400 + 9 * tokens);
    attend();
    gemm(17'000, 130, tokens, false);
    gpu_.launch(kNorm, 3'000 + 12 * tokens);
    gemm(52'000, 420, tokens, true);
    gpu_.launch(kAct, 3'200 + 30 * tokens);
    gemm(29'000, 230, tokens, false);
    if (layer != 2 || !on(Mechanism::kBlockingCall) || !plan_.with("block").chance(0.12)) return;
    gpu_.blocking_call("cuModuleLoadData",
                       fault_.magnitude * plan_.with("length").log_between(8e6, 70e6), true);
  }

  // Bound by the weights' bandwidth for few tokens, by the clock for many.
  void gemm(double floor_ns, double per_token_ns, double tokens, bool is_target) {
    const bool bad = is_target && on(Mechanism::kSlowGemm);
    double bound = per_token_ns * tokens * clock();
    double floor = floor_ns * (1 + 0.6 * (clock() - 1));
    if (bad) {
      const double factor = std::exp(fault_.magnitude * std::log(6.0));
      bound *= factor;
      floor *= factor;
    }
    gpu_.launch(bad ? kBadGemm : kGemm, std::hypot(floor, bound));
  }
  double clock() const { return on(Mechanism::kClockCap) ? 1.15 + 0.85 * fault_.magnitude : 1; }

  void attend() {
    double ns = 5'000;
    for (const Row& row : out_.plan.served) {
      const double context = row.computed + row.scheduled;
      double one = 1'600 + 6.5 * context + 0.035 * context * row.scheduled;
      if (row.request == fault_.request && on(Mechanism::kSlowAttention)) {
        one *= std::exp(fault_.magnitude * std::log(80.0));
      }
      ns += one;
    }
    // Routed once per step, for all layers.
    const bool wrong = on(Mechanism::kWrongKernel) && out_.plan.prefills() == 0 &&
                       plan_.with("route").chance(fault_.magnitude);
    if (wrong) ns *= 1.03;
    gpu_.launch(wrong ? kWrongAttention : kAttentionKernel, ns * (1 + 0.3 * (clock() - 1)));
  }

  const Fault& fault_;
  Key plan_;
  double host_;  // factor on host times
  StepOutcome& out_;
  int step_;
  GpuRank gpu_;
};

class VllmStack final : public Stack {
 public:
  VllmStack(const EngineConfig& config, std::uint64_t seed, int max_steps)
      : config_(config),
        seed_(Key(seed).with("vllm-v1")),
        machine_(seed_, {0.85, 1.5, 0.004, 0.00003, 0.004, 0.1}, max_steps) {}

  EngineState start() const override {
    return plan_load(config_, seed_.with("load"), kProgramStartNs + kImportNs);
  }
  std::int64_t pid(int) const override { return kPid; }
  bool prepare(EngineState& state) const override { return take_arrivals(state); }

  StepOutcome step(const EngineState& before, const Fault& fault,
                   std::uint64_t salt) const override {
    StepOutcome out;
    out.after = before;
    ++out.after.step;
    const auto number = static_cast<std::uint64_t>(out.after.step);
    const Key plan = seed_.with("plan").with(number);
    out.plan = schedule(out.after, config_, fault, plan);
    double pace = 0.3 * machine_.log_pace(out.after.step, Quantiles(), 0);
    if (out.after.step <= kWarmUpSteps) pace += 1.5 / out.after.step;
    VllmStep(fault, machine_, plan, seed_.with("draws").with(salt).with(number), pace, out).build();
    out.finished = finish_step(out.after, config_, out.plan, fault);
    for (const int request : out.finished) answer(out.after, config_, seed_.with("load"), request);
    return out;
  }

  void begin(const EngineState& state, Recording& recording) const override;
  void record(const StepOutcome& outcome, const Fault& fault, Recording& recording) const override;
  void end(const EngineState& state, Recording& recording) const override;

 private:
  EngineConfig config_;
  Key seed_;
  Machine machine_;
};

std::string line(const char* level, std::int64_t time_ns, const std::string& rest) {
  return std::string("(EngineCore_DP0 pid=") + std::to_string(kPid) + ") " + level + " " +
         Recording::clock_text(time_ns) + " " + rest;
}

void VllmStack::begin(const EngineState& state, Recording& recording) const {
  RecordedProcess process;
  process.pid = kPid;
  process.ppid = kPid - 60;
  process.argv = {"VLLM::EngineCore"};
  process.comm = "VLLM::EngineCor";
  process.hook_targets = 9;
  recording.add_process(process);
  recording.add_thread(0, kPid);
  recording.add_stream(0, 0, kComputeStream);
  const std::int64_t ready = state.now_ns - 900'000'000;
  recording.log(0, ready,
                line("INFO", ready,
                     "[kv_cache_utils.py:1229] GPU KV cache size: " +
                         std::to_string(config_.blocks * state.pool.block_tokens) + " tokens"));
  recording.log(0, ready + 400'000,
                line("WARNING", ready,
                     "[cudagraph_dispatcher.py:106] cudagraph dispatching keys are not "
                     "initialized. No cudagraph will be used."));
}

void VllmStack::record(const StepOutcome& outcome, const Fault&, Recording& recording) const {
  const auto track_of = [](const TreeNode& node) {
    return node.kind == NodeKind::kKernel ? 1U : 0U;
  };
  record_tree(outcome.tree, track_of, recording);
  recording.step_record(0, outcome.record_ns, step_record_json(outcome, config_, "vllm-v1"));
  const EngineState& state = outcome.after;
  if (state.step % kLogEvery == 0) {
    char text[160];
    std::snprintf(text, sizeof text,
                  "[loggers.py:127] Engine 000: Running: %zu reqs, Waiting: %zu reqs, GPU KV cache "
                  "usage: %.1f%%",
                  state.running.size(), state.waiting.size(),
                  100.0 * (state.pool.total - state.pool.free) / state.pool.total);
    recording.log(0, outcome.end_ns, line("INFO", outcome.end_ns, text));
  }
  // A warning that means nothing.
  if (seed_.with("warning").with(static_cast<std::uint64_t>(state.step)).chance(0.004)) {
    recording.log(0, outcome.end_ns,
                  line("WARNING", outcome.end_ns,
                       "[input_processor.py:243] Token indices sequence length is longer than "
                       "expected"));
  }
}

void VllmStack::end(const EngineState& state, Recording& recording) const {
  for (std::size_t i = 0; i < state.requests.size(); ++i) {
    const Request& one = state.requests[i];
    if (one.arrival < 0) continue;
    const std::string id = request_id(static_cast<int>(i));
    recording.log(0, one.arrived_ns,
                  line("INFO", one.arrived_ns, "[logger.py:40] Received request " + id + "."));
  }
  recording.log(0, state.now_ns + 500'000'000,
                line("INFO", state.now_ns, "[core.py:650] Shutting down."));
}

}  // namespace

EngineConfig vllm_config(std::uint64_t seed) {
  const Key key = Key(seed).with("vllm-v1 load");
  EngineConfig config;
  config.requests = 28;
  config.min_prompt = 48;
  config.max_prompt = 420;
  config.min_output = 32;
  config.max_output = 110;
  config.max_seqs = static_cast<int>(key.with("seats").integer(5, 16));
  config.token_budget = 64 * static_cast<int>(key.with("budget").integer(3, 8));
  config.max_chunk = 512;
  config.blocks = key.with("small pool").chance(0.25) ? 110 : 420;
  config.requests_per_s = key.with("rate").log_between(40, 160);
  return config;
}

std::unique_ptr<Stack> make_vllm_stack(const EngineConfig& config, std::uint64_t seed,
                                       int max_steps) {
  return std::make_unique<VllmStack>(config, seed, max_steps);
}

}  // namespace teller::simulate
