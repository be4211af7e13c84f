#include "simulate/gpu_rank.h"

#include <algorithm>
#include <cmath>

namespace teller::simulate {

namespace {

constexpr double kLaunchNs = 5'200;         // of the host, per launch
constexpr std::int64_t kLatencyNs = 3'800;  // from a launch to an idle device
constexpr double kHostSpread = 0.16;        // log
constexpr double kDeviceSpread = 0.025;
constexpr double kTail = 0.008;  // share of draws from the heavy tail

// Log ratio to the median: normal, now and then far above.
double jitter(const Key& key, double spread) {
  double value = spread * key.with("body").normal();
  if (key.with("tail").chance(kTail)) value += spread * key.with("far").between(2, 12);
  return value;
}

}  // namespace

GpuRank::GpuRank(int rank, std::int64_t now_ns, const Key& draws, const Machine& machine,
                 std::uint64_t first_correlation)
    : rank_(rank),
      now_(now_ns),
      machine_(machine),
      correlation_(first_correlation),
      open_{{-1, draws.with(static_cast<std::uint64_t>(rank)), {}}} {
  ready_.fill(now_ns);
}

// A node's path: the ranges around it, and its own name, each with its number among those of its
// name.
Key GpuRank::key(std::string_view what) {
  Open& around = open_.back();
  for (auto& [name, count] : around.counts) {
    if (name == what) return around.key.with(what).with(++count);
  }
  around.counts.emplace_back(what, 0);
  return around.key.with(what).with(0);
}

int GpuRank::open(const char* name, Layer layer) {
  const Key path = key(name);
  TreeNode node;
  node.layer = layer;
  node.name = node.family = name;
  node.parent = parent();
  node.rank = rank_;
  node.begin_ns = now_;
  const int index = tree_.open(node);
  open_.push_back({index, path, {}});
  now_ += 700;
  return index;
}

void GpuRank::close() {
  now_ += 400;
  tree_.close(parent(), is_stuck_ ? kOpenNs : now_);
  open_.pop_back();
}

void GpuRank::work(std::string_view what, double ns) {
  const Key draw = key(what);
  const auto work_ns = static_cast<std::int64_t>(ns * std::exp(jitter(draw, kHostSpread)));
  now_ += work_ns + machine_.lost_ns(draw, work_ns);
}

int GpuRank::add_call(const char* name, std::int64_t end_ns, bool is_driver) {
  TreeNode node;
  node.kind = NodeKind::kCall;
  node.layer = Layer::kRuntime;
  node.is_driver = is_driver;
  node.name = node.family = name;
  node.parent = parent();
  node.rank = rank_;
  node.begin_ns = now_;
  node.end_ns = end_ns;
  node.correlation = correlation_++;
  now_ = end_ns;
  return tree_.open(node);
}

void GpuRank::call(const char* name, double ns, bool is_driver, std::int64_t code) {
  const double time = ns * std::exp(jitter(key(name), kHostSpread));
  const int index = add_call(name, now_ + static_cast<std::int64_t>(time), is_driver);
  tree_.nodes[static_cast<std::size_t>(index)].value = code;
}

int GpuRank::launch(const GpuName& kernel, double ns, int stream) {
  const Key draw = key("launch");
  const double host = kLaunchNs * std::exp(jitter(draw.with("host"), kHostSpread));
  const std::int64_t launched = now_;
  const int call = add_call("cudaLaunchKernel", now_ + static_cast<std::int64_t>(host), false);
  if (is_hung_) return call;
  const std::int64_t arrival = std::max(launched + kLatencyNs, ready(stream) + 900);
  TreeNode node;
  node.kind = NodeKind::kKernel;
  node.layer = Layer::kKernel;
  node.name = kernel.name;
  node.family = kernel.family;
  node.parent = call;
  node.rank = rank_;
  node.stream = stream;
  node.begin_ns = arrival;
  node.end_ns = arrival + static_cast<std::int64_t>(ns * std::exp(jitter(draw, kDeviceSpread)));
  node.correlation = tree_.nodes[static_cast<std::size_t>(call)].correlation;
  ready(stream) = node.end_ns;
  now_ += 1'800;  // the operator's own way to its next launch
  return tree_.open(node);
}

int GpuRank::launch_collective(const GpuName& kernel, std::int64_t* arrival_ns) {
  const int node = launch(kernel, 1, kCommStream);
  *arrival_ns = tree_.nodes[static_cast<std::size_t>(node)].begin_ns;
  return node;
}

void GpuRank::end_collective(int node, std::int64_t started_ns, std::int64_t end_ns) {
  TreeNode& kernel = tree_.nodes[static_cast<std::size_t>(node)];
  kernel.end_ns = end_ns;
  kernel.wait_ns = started_ns - kernel.begin_ns;
  ready(kCommStream) = end_ns;
}

void GpuRank::wait_stream(int waiting, int stream) {
  ready(waiting) = std::max(ready(waiting), ready(stream));
}

void GpuRank::synchronise(const char* name) {
  const std::int64_t idle = *std::max_element(ready_.begin(), ready_.end());
  const std::int64_t begin = now_;
  if (is_hung_) {
    is_stuck_ = true;
    const int call = add_call(name, now_, false);
    tree_.close(call, kOpenNs);
    return;
  }
  const int index = add_call(name, std::max(now_ + 2'500, idle + 4'000), false);
  tree_.nodes[static_cast<std::size_t>(index)].wait_ns = now_ - begin;
}

void GpuRank::blocking_call(const char* name, double ns, bool is_driver) {
  const std::int64_t begin = now_;
  const std::int64_t idle = *std::max_element(ready_.begin(), ready_.end());
  const double time = ns * std::exp(jitter(key(name), kHostSpread));
  const std::int64_t waited = std::max<std::int64_t>(idle - begin, 0);
  const int index = add_call(name, begin + waited + static_cast<std::int64_t>(time), is_driver);
  tree_.nodes[static_cast<std::size_t>(index)].wait_ns = waited;
}

}  // namespace teller::simulate
