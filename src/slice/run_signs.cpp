#include "slice/run_signs.h"

#include <algorithm>
#include <iterator>

#include "base/saturate.h"
#include "slice/robust.h"

namespace teller::slice_detail {
namespace {

// cudaErrorNotReady: the ordinary answer of cudaEventQuery and cudaStreamQuery while work runs.
constexpr std::int64_t kNotReady = 600;
// CUDA's codes after which a context is lost: uncorrectable ECC and NVLink errors, illegal address,
// timeout, assert, hardware stack, instruction, address and launch errors, unknown. They come late:
// the call that reports one is seldom the one at fault.
constexpr std::int64_t kSticky[] = {214, 220, 700, 702, 710, 714, 715, 716, 717, 718, 719, 999};
constexpr std::int64_t kLastNs = 1'000'000'000;  // what fails this close to the end may end it
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

std::int64_t end_of_run(const Chains& chains) {
  const auto& ends = chains.nodes.end_ns;
  return ends.empty() ? 0 : *std::max_element(ends.begin(), ends.end());
}

// Programs may probe: without a baseline, a failed call means something only where work is done,
// where it may have ended the run, or if nothing works after it.
bool matters_by_itself(const Chains& chains, std::uint32_t node, std::int64_t run_end) {
  return chains.nodes.step[node] != kNoIndex ||
         saturating_sub(run_end, chains.nodes.begin_ns[node]) <= kLastNs ||
         std::find(std::begin(kSticky), std::end(kSticky), chains.nodes.value[node]) !=
             std::end(kSticky);
}

std::string failure_text(const std::pair<std::string, std::int64_t>& what, std::size_t count) {
  return what.first + " failed " + (count == 1 ? "once" : std::to_string(count) + " times") +
         " with code " + std::to_string(what.second);
}

void judge_failures(const Chains& chains, const FailureRates* usual, Findings& findings) {
  const std::int64_t run_end = end_of_run(chains);
  for (auto& [what, failures] : count_failures(chains)) {
    std::vector<std::uint32_t> nodes = failures.nodes;
    if (usual != nullptr) {
      const auto known = usual->find(what);
      const double rate = static_cast<double>(failures.count) / steps_of(chains);
      if (known != usual->end() && rate <= 2 * known->second) continue;
    } else {
      std::erase_if(nodes,
                    [&](std::uint32_t node) { return !matters_by_itself(chains, node, run_end); });
    }
    if (nodes.empty()) {
      findings.notes.push_back(failure_text(what, failures.count) +
                               ", outside any step: whether that is usual needs a baseline");
      continue;
    }
    Reason reason;
    reason.kind = "failed_call";
    reason.score = 2;
    reason.text = failure_text(what, nodes.size());
    reason.effect = {{"count", nodes.size()}, {"code", what.second}};
    for (const std::uint32_t node : nodes) {
      const std::uint32_t step = chains.nodes.step[node];
      if (step != kNoIndex && (reason.steps.empty() || reason.steps.back() != step)) {
        reason.steps.push_back(step);
      }
    }
    reason.nodes = std::move(nodes);
    findings.run.push_back(std::move(reason));
  }
}

double median_step_ns(const Chains& chains) {
  std::vector<double> durations;
  for (std::uint32_t step = 0; step < chains.step_count(); ++step) {
    if (chains.steps.open[step] != 0) continue;
    durations.push_back(static_cast<double>(
        saturating_sub(chains.steps.end_ns[step], chains.steps.begin_ns[step])));
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

// Names that ranges which wait for work have.
bool is_idle_wait(const Chains& chains, std::uint32_t node) {
  if (chains.layer(node) != Layer::kFrontEnd && chains.layer(node) != Layer::kBackEnd) return false;
  std::string name(chains.string(chains.nodes.family[node]));
  std::transform(name.begin(), name.end(), name.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  for (const char* word : {"wait", "poll", "idle", "sleep", "queue", "recv", "receive"}) {
    if (name.find(word) != std::string::npos) return true;
  }
  return false;
}

// Whether an open step had work: an engine that blocks until a request comes has an open step, too.
bool is_at_work(const Chains& chains, std::uint32_t step,
                const std::vector<std::uint32_t>& open_nodes) {
  const auto first = chains.steps.first_row[step];
  for (auto row = first; row < first + chains.steps.row_count[step]; ++row) {
    if (chains.rows.scheduled[row] > 0) return true;
  }
  return std::any_of(open_nodes.begin(), open_nodes.end(), [&](std::uint32_t node) {
    return chains.layer(node) != Layer::kStep && !is_idle_wait(chains, node);
  });
}

void judge_open_step(const Chains& chains, std::uint32_t step, bool broke_off, double usual_ns,
                     Findings& findings) {
  const std::int64_t lasted =
      saturating_sub(chains.steps.end_ns[step], chains.steps.begin_ns[step]);
  const std::vector<std::uint32_t> nodes = open_nodes_of(chains, step);
  const bool hangs = is_at_work(chains, step, nodes) && lasted >= kHangNs && usual_ns > 0 &&
                     static_cast<double>(lasted) >= kHangFactor * usual_ns;
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

void judge_run(const Chains& chains, const FailureRates* usual, bool broke_off,
               Findings& findings) {
  judge_failures(chains, usual, findings);
  const double usual_ns = median_step_ns(chains);
  for (std::uint32_t step = 0; step < chains.step_count(); ++step) {
    if (chains.steps.open[step] != 0) judge_open_step(chains, step, broke_off, usual_ns, findings);
  }
}

}  // namespace teller::slice_detail
