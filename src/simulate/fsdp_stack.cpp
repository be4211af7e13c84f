#include "simulate/fsdp_stack.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "simulate/gpu_rank.h"
#include "simulate/recording.h"
#include "simulate/step_text.h"

namespace teller::simulate {

namespace {

constexpr int kBlocks = 6;  // transformer blocks, each one unit of sharding
constexpr std::int64_t kPid = 31200;
constexpr std::int64_t kImportNs = 9'000'000'000;
constexpr int kWarmUpSteps = 3;
constexpr int kLogEvery = 10;
constexpr std::int64_t kWatchdogNs = 600'000'000'000;

constexpr GpuName kGemmForward{
    "sm80_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x32_stage4_warpsize2x2x1_"
    "tensor16x8x16_"
    "execute_kernel__5x_cublas",
    "sm80_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize_stage4_warpsize_tensor_execute_kernel__5x_"
    "cublas"};
constexpr GpuName kGemmBackward{
    "sm80_xmma_gemm_bf16bf16_bf16f32_f32_nt_n_tilesize128x128x32_stage4_warpsize2x2x1_"
    "tensor16x8x16_"
    "execute_kernel__5x_cublas",
    "sm80_xmma_gemm_bf16bf16_bf16f32_f32_nt_n_tilesize_stage4_warpsize_tensor_execute_kernel__5x_"
    "cublas"};
constexpr GpuName kSlowGemmKernel{"cutlass_80_simt_sgemm_128x64_8x5_tn_align1",
                                  "cutlass_simt_sgemm_tn_align1"};
constexpr GpuName kFlashForward{
    "void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<64, 128, 128, 4, "
    "false, false, cutlass::bfloat16_t>, false, true>(pytorch_flash::Flash_fwd_params)",
    "pytorch_flash::flash_fwd_kernel"};
constexpr GpuName kFlashBackward{
    "void "
    "pytorch_flash::flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<pytorch_flash::Flash_bwd_kernel_"
    "traits<64, 128, 128, 8, 4, 4, 4>, false, true>(pytorch_flash::Flash_bwd_params)",
    "pytorch_flash::flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel"};
constexpr GpuName kElementwise{
    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<c10::BFloat16>, "
    "std::array<char*, 3ul> >(int, at::native::CUDAFunctor_add<c10::BFloat16>, std::array<char*, "
    "3ul>)",
    "at::native::vectorized_elementwise_kernel<at::native::CUDAFunctor_add>"};
constexpr GpuName kLayerNorm{
    "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::BFloat16, "
    "float>(int, float, c10::BFloat16 const*, c10::BFloat16 const*)",
    "at::native::vectorized_layer_norm_kernel"};
constexpr GpuName kAdam{
    "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous "
    "namespace)::FusedOptimizerTensorListMetadata<4>, at::native::(anonymous "
    "namespace)::FusedAdamMathFunctor<float, 4, (at::native::ADAM_MODE)1> >(at::native::(anonymous "
    "namespace)::FusedOptimizerTensorListMetadata<4>)",
    "at::native::multi_tensor_apply_kernel<at::native::ADAM_MODE>"};
constexpr GpuName kAllGather{"ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
                             "ncclDevKernel_AllGather_RING_LL"};
constexpr GpuName kReduceScatter{
    "ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
    "ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL"};

class FsdpStep {
 public:
  FsdpStep(const EngineState& before, const EngineConfig& config, const Fault& fault,
           const Machine& machine, const Key& plan, const Key& draws, double log_pace,
           StepOutcome& out)
      : fault_(fault), plan_(plan), draws_(draws), host_(std::exp(log_pace)), out_(out) {
    step_ = out.after.step;
    for (int rank = 0; rank < config.ranks; ++rank) {
      const auto number = static_cast<std::uint64_t>(step_);
      ranks_.emplace_back(rank, before.rank_ns[static_cast<std::size_t>(rank)], draws, machine,
                          number * 4096 + 1);
    }
  }

  void build() {
    each([](GpuRank& rank, int) { rank.open("train step", Layer::kStep); });
    each([&](GpuRank& rank, int index) { load_batch(rank, index); });
    each([](GpuRank& rank, int) { rank.open("forward", Layer::kFrontEnd); });
    for (int block = 0; block < kBlocks; ++block) forward(block);
    each([](GpuRank& rank, int) { rank.close(); });
    each([](GpuRank& rank, int) { rank.open("backward", Layer::kFrontEnd); });
    for (int block = kBlocks - 1; block >= 0; --block) backward(block);
    each([](GpuRank& rank, int) { rank.close(); });
    each([&](GpuRank& rank, int index) { optimise(rank, index); });
    each([](GpuRank& rank, int) { rank.close(); });
    finish();
  }

 private:
  bool hits(Mechanism mechanism, int rank) const {
    return rank == fault_.rank && fault_.is_on(mechanism, step_);
  }
  void each(const std::function<void(GpuRank&, int)>& run) {
    for (std::size_t i = 0; i < ranks_.size(); ++i) run(ranks_[i], static_cast<int>(i));
  }

  // Tokens of a step's batch on a rank: sequences differ a little in length.
  double batch(int rank) const {
    return plan_.with("batch").with(static_cast<std::uint64_t>(rank)).between(0.96, 1.04);
  }

  void load_batch(GpuRank& rank, int index) {
    rank.open("next batch", Layer::kFrontEnd);
    double ns = 450'000 * host_;
    // Ordinary: now and then a worker of the loader is late by a little.
    if (draws_.with("late batch").with(static_cast<std::uint64_t>(index)).chance(0.01)) ns *= 4;
    rank.work("batch", ns);
    if (hits(Mechanism::kDataStall, index) && plan_.with("stall").chance(0.5)) {
      rank.pause(static_cast<std::int64_t>(fault_.magnitude *
                                           plan_.with("length").log_between(8e6, 80e6)));
    }
    rank.call("cudaMemcpyAsync", 9'000);
    rank.close();
  }

  void collective(const char* range, const GpuName& kernel, double ns, std::string_view what) {
    // A rank that leaves out a collective: nothing that comes later on any device ever runs.
    const bool hangs = what == hang_at_ && fault_.is_on(Mechanism::kMissingCollective, step_);
    if (hangs) {
      out_.hang_operators = {{Layer::kBackEnd, range, fault_.rank, ""}};
      out_.hang_rank = fault_.rank;
      out_.after.is_hung = true;
    }
    std::vector<int> nodes;
    std::int64_t last = 0;
    each([&](GpuRank& rank, int index) {
      if (hangs && index == fault_.rank) {
        rank.hang();
        return;
      }
      rank.open(range, Layer::kBackEnd);
      rank.work("enqueue", 14'000 * host_);
      if (hangs) rank.hang();
      if (kernel.name == kReduceScatter.name) rank.wait_stream(kCommStream, kComputeStream);
      std::int64_t arrival = 0;
      nodes.push_back(rank.launch_collective(kernel, &arrival));
      last = std::max(last, arrival);
      rank.close();
    });
    if (out_.after.is_hung) return;
    const Key draw = draws_.with("collective").with(what);
    double transfer = ns * std::exp(0.03 * draw.normal());
    if (draw.with("tail").chance(0.01)) transfer *= draw.with("far").between(1.1, 1.8);
    if (fault_.is_on(Mechanism::kSlowLink, step_)) transfer *= 1 + 3 * fault_.magnitude;
    if (fault_.is_on(Mechanism::kFlakyLink, step_) && draw.with("retransmit").chance(0.05)) {
      transfer += fault_.magnitude * draw.with("delay").log_between(6e6, 90e6);
    }
    each([&](GpuRank& rank, int index) {
      rank.end_collective(nodes[static_cast<std::size_t>(index)], last,
                          last + static_cast<std::int64_t>(transfer));
      rank.wait_stream(kComputeStream, kCommStream);
    });
  }

  void gemm(GpuRank& rank, int index, const char* range, const GpuName& kernel, double ns) {
    rank.open(range, Layer::kBackEnd);
    rank.work("dispatch", 9'000 * host_);
    const bool slow = fault_.is_on(Mechanism::kSlowGemm, step_) && kernel.name == kGemmForward.name;
    const double factor = slow ? std::exp(fault_.magnitude * std::log(5.0)) : 1;
    rank.launch(slow ? kSlowGemmKernel : kernel, compute(index, ns * factor));
    rank.close();
  }
  void small(GpuRank& rank, const char* range, const GpuName& kernel, double ns) {
    rank.open(range, Layer::kBackEnd);
    rank.work("dispatch", 6'000 * host_);
    rank.launch(kernel, ns);
    rank.close();
  }
  // Device time of what the clock bounds.
  double compute(int rank, double ns) const {
    const double slow = hits(Mechanism::kClockCap, rank) ? 1 + 0.15 + 0.85 * fault_.magnitude : 1;
    return ns * slow * batch(rank);
  }

  void forward(int block) {
    const std::string what = "forward " + std::to_string(block);
    collective("nccl:_all_gather_base", kAllGather, 260'000, what);
    each([&](GpuRank& rank, int index) {
      small(rank, "aten::native_layer_norm", kLayerNorm, 38'000);
      gemm(rank, index, "aten::mm", kGemmForward, 310'000);
      rank.open("aten::_flash_attention_forward", Layer::kBackEnd);
      rank.work("dispatch", 11'000 * host_);
      rank.launch(kFlashForward, compute(index, 240'000));
      rank.close();
      gemm(rank, index, "aten::mm", kGemmForward, 470'000);
      small(rank, "aten::gelu", kElementwise, 52'000);
      trouble(rank, index, block);
    });
  }

  void backward(int block) {
    const std::string what = "backward " + std::to_string(block);
    collective("nccl:_all_gather_base", kAllGather, 260'000, what);
    each([&](GpuRank& rank, int index) {
      small(rank, "aten::gelu_backward", kElementwise, 64'000);
      gemm(rank, index, "aten::mm", kGemmBackward, 900'000);
      rank.open("aten::_flash_attention_backward", Layer::kBackEnd);
      rank.work("dispatch", 12'000 * host_);
      rank.launch(kFlashBackward, compute(index, 560'000));
      rank.close();
      gemm(rank, index, "aten::mm", kGemmBackward, 620'000);
    });
    collective("nccl:_reduce_scatter_base", kReduceScatter, 340'000, what + " gradients");
  }

  // What a fault of one rank's host or memory does in the forward pass of a block.
  void trouble(GpuRank& rank, int index, int block) {
    const double m = fault_.magnitude;
    const Key draw = plan_.with("trouble").with(static_cast<std::uint64_t>(block));
    if (hits(Mechanism::kGcPause, index) && block == 2 && draw.chance(0.4)) {
      rank.open("gc collect", Layer::kFrontEnd);
      rank.pause(static_cast<std::int64_t>(m * draw.with("length").log_between(15e6, 120e6)));
      rank.close();
    }
    if (hits(Mechanism::kAllocatorRetry, index) && draw.chance(0.15 + 0.35 * m)) {
      rank.open("aten::empty", Layer::kBackEnd);
      rank.blocking_call("cudaFree", 900'000 * (0.3 + m), false);
      rank.call("cudaMalloc", 1'500'000 * (0.3 + m));
      rank.close();
    }
    if (hits(Mechanism::kBlockingCall, index) && block == 1 && draw.chance(0.35)) {
      rank.blocking_call("cuModuleLoadData", m * draw.with("length").log_between(10e6, 80e6), true);
    }
  }

  void optimise(GpuRank& rank, int index) {
    rank.open("optimizer step", Layer::kFrontEnd);
    for (int group = 0; group < 3; ++group) small(rank, "aten::_fused_adamw_", kAdam, 130'000);
    rank.close();
    rank.open("loss item", Layer::kFrontEnd);
    rank.synchronise("cudaStreamSynchronize");
    // Python's garbage collector, as in every run.
    const auto number = static_cast<std::uint64_t>(index);
    if (draws_.with("gc").with(number).chance(0.012)) {
      rank.pause(
          static_cast<std::int64_t>(draws_.with("gc length").with(number).log_between(1e6, 6e6)));
    }
    rank.close();
  }

  void finish() {
    out_.begin_ns = out_.after.now_ns;
    out_.end_ns = 0;
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
      StepTree& tree = ranks_[i].tree();
      const int offset = static_cast<int>(out_.tree.nodes.size());
      for (TreeNode& node : tree.nodes) {
        if (node.parent >= 0) node.parent += offset;
        out_.tree.nodes.push_back(node);
      }
      const TreeNode& root = tree.nodes.front();
      // What hangs is ended by the watchdog.
      const std::int64_t end = root.end_ns == kOpenNs ? ranks_[i].now() + kWatchdogNs : root.end_ns;
      out_.latency_ns.push_back(end - root.begin_ns);
      out_.end_ns = std::max(out_.end_ns, end);
      out_.after.rank_ns[i] = ranks_[i].now() + 60'000;
    }
    out_.after.now_ns = out_.end_ns;
  }

  const Fault& fault_;
  Key plan_, draws_;
  double host_;  // factor on host times
  StepOutcome& out_;
  int step_ = 0;
  std::string hang_at_ = "backward 3 gradients";
  std::vector<GpuRank> ranks_;
};

class FsdpStack final : public Stack {
 public:
  FsdpStack(const EngineConfig& config, std::uint64_t seed, int max_steps)
      : config_(config),
        seed_(Key(seed).with("fsdp")),
        machine_(seed_, {0.9, 1.4, 0.004, 0.00002, 0.002}, max_steps) {}

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
    FsdpStep(before, config_, fault, machine_, seed_.with("plan").with(number),
             seed_.with("draws").with(salt).with(number), pace, out)
        .build();
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
