#include "simulate/demo_step.h"

#include <cmath>

namespace teller::simulate {

namespace {

constexpr int kModelLayers = 4;

// Lays out the ranges of one step.
class StepBuilder {
 public:
  StepBuilder(const DemoTimer& timer, const Fault& fault, DemoOp slow_gemm, StepOutcome& out)
      : timer_(timer), fault_(fault), slow_gemm_(slow_gemm), out_(out), now_(out.after.now_ns) {
    shared_.prefill = out.plan.prefills() > 0;
    shared_.tokens = out.plan.tokens;
    shared_.context = static_cast<double>(out.plan.served.size());
  }

  void build() {
    wait(kBeforeStep);
    out_.begin_ns = now_;
    const int step = open("engine step", Layer::kStep, -1);
    wait(kBeforeSchedule);
    const int schedule = open("schedule", Layer::kStep, step);
    now_ += timer_.ns(kSchedule, shared_);
    out_.record_ns = now_ - 2000;
    close(schedule);
    if (!out_.plan.served.empty()) run_model(step);
    out_.latency_ns = {now_ - out_.begin_ns};
    leaf(kBeforeUpdateRequests, kUpdateRequests, "update requests", Layer::kFrontEnd, step);
    wait(kEndOfStep);
    close(step);
    out_.end_ns = out_.after.now_ns = now_;
  }

 private:
  void run_model(int step) {
    leaf(kBeforePrepareInputs, kPrepareInputs, "prepare inputs", Layer::kFrontEnd, step);
    wait(kBeforeExecuteModel);
    const int execute = open("execute model", Layer::kFrontEnd, step);
    wait(kBeforeModelForward);
    const int forward = open("model forward", Layer::kFrontEnd, execute);
    leaf(kBeforeEmbedding, kEmbedding, "embedding", Layer::kBackEnd, forward);
    for (layer_ = 0; layer_ < kModelLayers; ++layer_) run_layer(forward);
    layer_ = 0;
    leaf(kBeforeLmHead, kLmHead, "lm head", Layer::kBackEnd, forward);
    wait(kEndOfModelForward);
    close(forward);
    wait(kEndOfExecuteModel);
    close(execute);
    leaf(kBeforeSample, kSample, "sample", Layer::kFrontEnd, step);
  }

  void run_layer(int forward) {
    leaf(kBeforeQkvProjection, kQkvProjection, "qkv projection", Layer::kBackEnd, forward);
    leaf(kBeforeKvWrite, kKvWrite, "kv write", Layer::kBackEnd, forward);
    for (const Row& row : out_.plan.served) attend(row, forward);
    leaf(kBeforeOutputProjection, kOutputProjection, "output projection", Layer::kBackEnd, forward);
    leaf(kBeforeMlp, kMlp, "mlp", Layer::kBackEnd, forward);
  }

  void attend(const Row& row, int forward) {
    DemoTimer::Work work;
    work.prefill = row.kind == RowKind::kPrefill;
    work.tokens = row.scheduled;
    work.context = row.computed + row.scheduled;
    work.first = row.request == out_.plan.served.front().request;
    work.instance =
        static_cast<std::uint64_t>(layer_) + 64 * static_cast<std::uint64_t>(row.request + 1);
    now_ += timer_.ns(kBeforeAttention, work);
    const int node = open("attention", Layer::kBackEnd, forward);
    out_.tree.nodes[static_cast<std::size_t>(node)].request = row.request;
    if (row.request == fault_.request && fault_.is_on(Mechanism::kSlowAttention, out_.after.step)) {
      work.log_factor = fault_.magnitude * std::log(8.0);
    }
    now_ += timer_.ns(kAttention, work);
    close(node);
  }

  DemoTimer::Work work_here() const {
    DemoTimer::Work work = shared_;
    work.first = layer_ == 0;
    work.instance = static_cast<std::uint64_t>(layer_);
    return work;
  }

  void wait(DemoOp gap) { now_ += timer_.ns(gap, work_here()); }

  void leaf(DemoOp gap, DemoOp op, const char* name, Layer layer, int parent) {
    wait(gap);
    const int node = open(name, layer, parent);
    DemoTimer::Work work = work_here();
    if (op == slow_gemm_ && fault_.is_on(Mechanism::kSlowGemm, out_.after.step)) {
      work.log_factor = fault_.magnitude * std::log(op == kMlp             ? 4.0
                                                    : op == kQkvProjection ? 6.0
                                                                           : 10.0);
    }
    now_ += timer_.ns(op, work);
    close(node);
  }

  int open(const char* name, Layer layer, int parent) {
    TreeNode node;
    node.layer = layer;
    node.name = node.family = name;
    node.parent = parent;
    node.begin_ns = now_;
    return out_.tree.open(node);
  }
  void close(int node) { out_.tree.close(node, now_); }

  const DemoTimer& timer_;
  const Fault& fault_;
  DemoOp slow_gemm_;
  StepOutcome& out_;
  std::int64_t now_;
  DemoTimer::Work shared_;
  int layer_ = 0;
};

}  // namespace

std::int64_t DemoTimer::ns(DemoOp op, const Work& work) const {
  const DemoCost& cost = costs_.ops[op];
  const auto& line = cost.line[work.prefill ? 1 : 0];
  const Key key = draws_.with(static_cast<std::uint64_t>(op)).with(work.instance);
  double log_ns = line[0] + line[1] * std::log1p(work.tokens) + line[2] * std::log1p(work.context);
  if (work.first) log_ns += cost.first;
  log_ns += cost.residual[machine_.is_busy() ? 1 : 0].at(key.uniform());
  log_ns += log_pace_ + work.log_factor;
  const auto work_ns = static_cast<std::int64_t>(std::exp(log_ns));
  const Key lost = losses_.with(static_cast<std::uint64_t>(op)).with(work.instance);
  return work_ns + machine_.lost_ns(lost, work_ns);
}

void build_demo_step(const DemoTimer& timer, const Fault& fault, DemoOp slow_gemm,
                     StepOutcome& out) {
  StepBuilder(timer, fault, slow_gemm, out).build();
}

}  // namespace teller::simulate
