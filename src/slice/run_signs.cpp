#include "slice/run_signs.h"

#include <algorithm>

#include "slice/robust.h"

namespace teller::slice_detail {
namespace {

// cudaErrorNotReady: the ordinary answer of cudaEventQuery and cudaStreamQuery while work runs.
constexpr std::int64_t kNotReady = 600;
constexpr double kHangFactor = 20;               // times the median step
constexpr std::int64_t kHangNs = 1'000'000'000;  // and at least this long

struct Failures {
  std::size_t count = 0;
  std::vector<std::uint32_t> nodes;
};
using FailureTable = std::map<std::pair<std::string, std::int64_t>, Failures>;

FailureTable count_failures(const Chains& chains) {
  FailureTable table;
  for (std::uint32_t node = 0; node < chains.node_count(); ++node) {
    if ((chains.nodes.flags[node] & kNodeFailed) == 0) continue;
    if (chains.nodes.value[node] == kNotReady) continue;
    Failures& one =
        table[{std::string(chains.string(chains.nodes.family[node])), chains.nodes.value[node]}];
    ++one.count;
    one.nodes.push_back(node);
  }
  return table;
}

double steps_of(const Chains& chains) {
  return static_cast<double>(std::max<std::size_t>(chains.step_count(), 1));
}

void judge_failures(const Chains& chains, const FailureRates& usual, Findings& findings) {
  for (auto& [what, failures] : count_failures(chains)) {
    const auto known = usual.find(what);
    const double rate = static_cast<double>(failures.count) / steps_of(chains);
    if (known != usual.end() && rate <= 2 * known->second) continue;
    Reason reason;
    reason.kind = "failed_call";
    reason.score = 2;
    reason.text = what.first + " failed " + std::to_string(failures.count) + " times with code " +
                  std::to_string(what.second);
    reason.effect = {{"count", failures.count}, {"code", what.second}};
    reason.nodes = failures.nodes;
    for (const std::uint32_t node : failures.nodes) {
      const std::uint32_t step = chains.nodes.step[node];
      if (step != kNoIndex && (reason.steps.empty() || reason.steps.back() != step)) {
        reason.steps.push_back(step);
      }
    }
    findings.run.push_back(std::move(reason));
  }
}

double median_step_ns(const Chains& chains) {
  std::vector<double> durations;
  for (std::uint32_t step = 0; step < chains.step_count(); ++step) {
    if (chains.steps.open[step] != 0) continue;
    durations.push_back(
        static_cast<double>(chains.steps.end_ns[step] - chains.steps.begin_ns[step]));
  }
  return median(std::move(durations));
}

// Open nodes of a step, deepest first: the last thing that began is the best evidence.
std::vector<std::uint32_t> open_nodes_of(const Chains& chains, std::uint32_t step) {
  std::vector<std::uint32_t> nodes;
  const std::uint32_t root = chains.steps.root[step];
  for (std::uint32_t node = root; node < root + chains.steps.node_count[step]; ++node) {
    if ((chains.nodes.flags[node] & kNodeOpen) != 0) nodes.push_back(node);
  }
  std::reverse(nodes.begin(), nodes.end());
  return nodes;
}

void judge_open_step(const Chains& chains, std::uint32_t step, bool broke_off, double usual_ns,
                     Findings& findings) {
  const std::int64_t lasted = chains.steps.end_ns[step] - chains.steps.begin_ns[step];
  const bool hangs =
      lasted >= kHangNs && usual_ns > 0 && static_cast<double>(lasted) >= kHangFactor * usual_ns;
  const std::vector<std::uint32_t> nodes = open_nodes_of(chains, step);
  const std::string deepest =
      nodes.empty() ? "nothing below it"
                    : "in " + std::string(chains.string(chains.nodes.name[nodes.front()]));
  if (!hangs && !broke_off) {
    findings.notes.push_back("the capture stopped inside step " + std::to_string(step) + ", " +
                             deepest);
    return;
  }
  Reason reason;
  reason.kind = hangs ? "unfinished_step" : "ended_inside_step";
  reason.score = 3;
  reason.text =
      (hangs ? "a step had not ended after " + std::to_string(lasted / 1'000'000) + " ms, "
             : std::string("the recording broke off inside a step, ")) +
      deepest;
  reason.effect = {{"lasted_ns", lasted}, {"usual_ns", static_cast<std::int64_t>(usual_ns)}};
  reason.steps = {step};
  reason.nodes = nodes;
  findings.run.push_back(std::move(reason));
}

}  // namespace

FailureRates failure_rates(const Chains& chains) {
  FailureRates rates;
  for (const auto& [what, failures] : count_failures(chains)) {
    rates[what] = static_cast<double>(failures.count) / steps_of(chains);
  }
  return rates;
}

void judge_run(const Chains& chains, const FailureRates& usual, bool broke_off,
               Findings& findings) {
  judge_failures(chains, usual, findings);
  const double usual_ns = median_step_ns(chains);
  for (std::uint32_t step = 0; step < chains.step_count(); ++step) {
    if (chains.steps.open[step] != 0) judge_open_step(chains, step, broke_off, usual_ns, findings);
  }
}

}  // namespace teller::slice_detail
