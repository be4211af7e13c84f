#include "simulate/judge.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace teller::simulate {

namespace {

constexpr std::uint64_t kForks = 9;   // healthy forks of a step with other draws
constexpr double kLeastRatio = 0.10;  // a latency off by less is no cause
constexpr double kMads = 3;           // nor by less than so many spreads of the forks
constexpr double kShare = 0.80;       // of the excess self time that the operators explain

// (layer, family, rank, request): what a label can name.
using Name = std::tuple<Layer, std::string, int, int>;
using SelfTimes = std::map<Name, double>;

Name name_of(const TreeNode& node) {
  return {node.layer, node.family, node.rank, node.request};
}

// Self time of each name: host ranges without what happens inside them.
SelfTimes self_times(const StepTree& tree) {
  std::vector<double> self;
  for (const TreeNode& node : tree.nodes) {
    const double time =
        node.end_ns == kOpenNs ? 0 : static_cast<double>(node.end_ns - node.begin_ns);
    self.push_back(time - static_cast<double>(node.wait_ns));
    const bool on_host = node.kind != NodeKind::kKernel;
    if (node.parent >= 0 && on_host) self[static_cast<std::size_t>(node.parent)] -= time;
  }
  SelfTimes out;
  for (std::size_t i = 0; i < self.size(); ++i) out[name_of(tree.nodes[i])] += self[i];
  return out;
}

const Row* find_row(const std::vector<Row>& rows, int request) {
  for (const Row& row : rows) {
    if (row.request == request) return &row;
  }
  return nullptr;
}

// How well a request fares in a plan: decoding or reading new tokens, reading again what it had,
// waiting, losing its blocks.
int standing(const Plan& plan, int request, const Row** found) {
  if ((*found = find_row(plan.preempted, request)) != nullptr) return 0;
  if ((*found = find_row(plan.served, request)) != nullptr) {
    return (*found)->kind == RowKind::kPrefill ? 2 : 3;
  }
  *found = find_row(plan.waiting, request);
  return *found != nullptr ? 1 : -1;
}

std::string row_family(int standing) {
  constexpr const char* kFamilies[] = {"row:preempted", "row:waiting", "row:prefill", "row:decode"};
  return kFamilies[standing];
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

OperatorLabel operator_of(const Name& name) {
  OperatorLabel label;
  label.layer = std::get<0>(name);
  label.family = std::get<1>(name);
  label.rank = std::get<2>(name);
  if (std::get<3>(name) >= 0) label.request = request_id(std::get<3>(name));
  return label;
}

}  // namespace

struct Judge::Comparison {
  std::vector<OperatorLabel> rows;              // worse than in the twin
  std::vector<int> requests;                    // of those rows
  bool same_rows = true;                        // nobody fares worse, and nobody better
  std::vector<std::pair<double, Name>> excess;  // ns, largest first
  std::vector<Name> other;                      // extra, missing or failing
};

Judge::Comparison Judge::compare(const EngineState& before, const StepOutcome& outcome,
                                 const StepOutcome& twin) const {
  Comparison out;
  for (int request = 0; request < static_cast<int>(before.requests.size()); ++request) {
    const Row* row = nullptr;
    const Row* other = nullptr;
    const int here = standing(outcome.plan, request, &row);
    const int there = standing(twin.plan, request, &other);
    if (here < 0 && there < 0) continue;
    const int scheduled = row != nullptr ? row->scheduled : 0;
    const int expected = other != nullptr ? other->scheduled : 0;
    if (here == there && scheduled == expected) continue;
    out.same_rows = false;
    if (here < 0 || here > there || (here == there && scheduled > expected)) continue;
    OperatorLabel label;
    label.layer = Layer::kStep;
    label.family = row_family(here);
    label.request = request_id(request);
    out.rows.push_back(label);
    out.requests.push_back(request);
  }
  std::map<Name, std::pair<int, std::int64_t>> balance;
  for (const TreeNode& node : outcome.tree.nodes) {
    auto& [count, codes] = balance[name_of(node)];
    ++count;
    codes += node.value + (node.end_ns == kOpenNs ? 1 : 0);
  }
  for (const TreeNode& node : twin.tree.nodes) {
    auto& [count, codes] = balance[name_of(node)];
    --count;
    codes -= node.value;
  }
  for (const auto& [name, difference] : balance) {
    if (difference.first != 0 || difference.second != 0) out.other.push_back(name);
  }
  SelfTimes here = self_times(outcome.tree);
  for (const auto& [name, time] : self_times(twin.tree)) here[name] -= time;
  for (const auto& [name, time] : here) {
    if (time > 0) out.excess.emplace_back(time, name);
  }
  std::sort(out.excess.begin(), out.excess.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  return out;
}

// Spread (MAD) of the step's latency over healthy forks with other draws, relative to the twin's.
double Judge::noise(const EngineState& healthy, const StepOutcome& twin, std::size_t rank) const {
  std::vector<double> times;
  for (std::uint64_t salt = 1; salt <= kForks; ++salt) {
    times.push_back(static_cast<double>(stack_.step(healthy, Fault(), salt).latency_ns[rank]));
  }
  const double middle = median(times);
  for (double& time : times) time = std::fabs(time - middle);
  return median(times) / static_cast<double>(twin.latency_ns[rank]);
}

void Judge::note_losses(StepOutcome& outcome, const StepOutcome& twin) const {
  for (const Row& row : outcome.plan.preempted) {
    if (find_row(twin.plan.preempted, row.request) != nullptr) continue;
    Request& one = outcome.after.requests[static_cast<std::size_t>(row.request)];
    if (one.lost_computed >= row.computed) continue;
    one.lost_computed = row.computed;
    one.lost_target = std::min(row.target, one.prompt);
  }
}

// Whether the fault still shapes the state: it holds blocks, or a request that it has harmed is
// still there.
bool Judge::is_affected(const StepOutcome& outcome) const {
  if (outcome.after.pool.leaked > 0) return true;
  return std::any_of(harmed_.begin(), harmed_.end(), [&outcome](int request) {
    return outcome.after.requests[static_cast<std::size_t>(request)].stage != Stage::kDone;
  });
}

// Names what differs on a rank (-1: on any): what is extra, missing or failing, and the smallest
// set that makes most of the excess self time.
void Judge::name_operators(const Comparison& comparison, int rank, StepLabel& label) const {
  const auto is_here = [rank](const Name& name) { return rank < 0 || std::get<2>(name) == rank; };
  const auto add = [&label](const Name& name) {
    const OperatorLabel one = operator_of(name);
    if (std::find(label.operators.begin(), label.operators.end(), one) == label.operators.end()) {
      label.operators.push_back(one);
    }
  };
  for (const Name& name : comparison.other) {
    if (is_here(name)) add(name);
  }
  double total = 0;
  for (const auto& [time, name] : comparison.excess) total += is_here(name) ? time : 0;
  double sum = 0;
  for (const auto& [time, name] : comparison.excess) {
    if (!is_here(name)) continue;
    if (sum >= kShare * total) break;
    sum += time;
    add(name);
  }
}

StepLabel Judge::judge(const Comparison& comparison, const EngineState& healthy,
                       const StepOutcome& outcome, const StepOutcome& twin,
                       std::size_t rank) const {
  StepLabel label;
  label.number = outcome.after.step;
  const double ratio = static_cast<double>(outcome.latency_ns[rank]) /
                       static_cast<double>(std::max<std::int64_t>(twin.latency_ns[rank], 1));
  const double off = std::fabs(ratio - 1);
  const int number = config_.ranks > 1 ? static_cast<int>(rank) : -1;
  const bool by_rows = !comparison.rows.empty();
  const bool by_structure =
      comparison.same_rows &&
      std::any_of(comparison.other.begin(), comparison.other.end(),
                  [number](const Name& name) { return number < 0 || std::get<2>(name) == number; });
  bool is_cause = by_rows || by_structure;
  if (!is_cause && comparison.same_rows && off > kLeastRatio) {
    is_cause = off > kMads * noise(healthy, twin, rank);
  }
  if (by_rows) {
    label.operators.push_back({Layer::kStep, "schedule", -1, ""});
    label.operators.insert(label.operators.end(), comparison.rows.begin(), comparison.rows.end());
    for (const int request : comparison.requests) label.victims.push_back(request_id(request));
  } else if (is_cause) {
    name_operators(comparison, number, label);
  }
  if (is_cause) {
    label.state = StepState::kCause;
  } else if (off > 0 || !comparison.same_rows) {
    label.state = StepState::kWeak;
  } else {
    label.state = is_affected(outcome) ? StepState::kAffected : StepState::kNormal;
  }
  return label;
}

// Ranks on which something itself takes longer or differs; empty if that is so on all.
std::vector<int> Judge::culprits(const Comparison& comparison) const {
  std::vector<double> excess(static_cast<std::size_t>(config_.ranks), 0);
  for (const auto& [time, name] : comparison.excess) {
    excess[static_cast<std::size_t>(std::get<2>(name))] += time;
  }
  const double most = *std::max_element(excess.begin(), excess.end());
  std::vector<int> out;
  for (int rank = 0; rank < config_.ranks; ++rank) {
    if (excess[static_cast<std::size_t>(rank)] >= 0.5 * most) out.push_back(rank);
  }
  if (static_cast<int>(out.size()) == config_.ranks) out.clear();
  return out;
}

// A rank that only waits for a culprit is affected by it.
void Judge::tie_ranks(const Comparison& comparison, std::vector<StepLabel>& labels) const {
  const std::vector<int> guilty = culprits(comparison);
  for (StepLabel& label : labels) {
    if (label.state != StepState::kCause || guilty.empty()) continue;
    if (std::find(guilty.begin(), guilty.end(), label.rank) != guilty.end()) {
      label.ranks = {label.rank};
      continue;
    }
    label.state = StepState::kAffected;
    label.operators.clear();
  }
}

// The step in which ranks part: the call that differs, on the rank that leaves it out. The others
// only wait.
void Judge::label_hang(const StepOutcome& outcome, std::vector<StepLabel>& labels) const {
  for (StepLabel& label : labels) {
    const bool is_guilty = label.rank == outcome.hang_rank;
    label.state = is_guilty ? StepState::kCause : StepState::kAffected;
    label.operators = is_guilty ? outcome.hang_operators : std::vector<OperatorLabel>();
    if (is_guilty) label.ranks = {label.rank};
  }
}

StepLabel Judge::horizontal(const std::vector<StepLabel>& labels) const {
  StepLabel out;
  out.view = View::kHorizontal;
  out.number = labels.front().number;
  bool everywhere = true;
  for (const StepLabel& label : labels) {
    const bool is_cause = label.state == StepState::kCause;
    everywhere = everywhere && is_cause && label.ranks.empty();
    if (is_cause) {
      out.state = StepState::kCause;
      out.ranks.insert(out.ranks.end(), label.ranks.begin(), label.ranks.end());
    } else if (out.state == StepState::kNormal) {
      out.state = label.state;
    }
  }
  for (const StepLabel& label : labels) {
    for (OperatorLabel op : label.operators) {
      if (everywhere) op.rank = -1;
      if (std::find(out.operators.begin(), out.operators.end(), op) == out.operators.end()) {
        out.operators.push_back(op);
      }
    }
  }
  return out;
}

std::string Judge::explain(const StepLabel& label, const StepOutcome& outcome) const {
  const std::string step = "Step " + std::to_string(label.number);
  const auto list = [](const std::vector<std::string>& names) {
    std::string text;
    for (std::size_t i = 0; i < names.size(); ++i) text += (i == 0 ? "" : ", ") + names[i];
    return text;
  };
  std::vector<std::string> names;
  for (const OperatorLabel& op : label.operators) {
    names.push_back(op.family + (op.request.empty() ? "" : " of " + op.request));
  }
  const std::string victims = list(label.victims);
  switch (fault_.mechanism) {
    case Mechanism::kKvPinned:
    case Mechanism::kKvLeak: {
      const std::string why = fault_.mechanism == Mechanism::kKvPinned
                                  ? "a second user holds the free KV blocks"
                                  : "blocks of finished requests were not returned";
      if (!outcome.plan.preempted.empty()) {
        return step + " preempts " + victims + " for want of KV blocks: " + why + ".";
      }
      return step + ": " + victims +
             " waits for KV blocks or computes again what it had, because " + why + ".";
    }
    case Mechanism::kCreditStarvation:
      return step + " passes over " + victims +
             " although seat, token budget and KV blocks were there: the scheduler charges it for "
             "turns that it never had.";
    case Mechanism::kLifoAdmission:
      return step + " serves the newest requests first, so that " + victims +
             " gets fewer tokens than its turn.";
    case Mechanism::kSlowAttention:
      return step + " is slow in " + list(names) + ": it runs a slow attention kernel.";
    case Mechanism::kWrongKernel:
      return step + " runs another attention kernel than it should: " + list(names) + ".";
    case Mechanism::kMissingCollective:
      return step + " never ends: rank " + std::to_string(outcome.hang_rank) + " leaves out " +
             list(names) + ", and the other ranks wait for it.";
    case Mechanism::kSlowGemm:
      return step + " is slow in " + list(names) +
             ": the matrix product runs a badly chosen kernel.";
    default: {
      const MechanismInfo* info = nullptr;
      for (const MechanismInfo& one : all_mechanisms()) {
        if (one.mechanism == fault_.mechanism) info = &one;
      }
      std::string text = step + " is slow in " + list(names);
      if (!label.ranks.empty()) text += " on rank " + std::to_string(label.ranks.front());
      return text + (info != nullptr ? ": " + std::string(info->words) : "") + ".";
    }
  }
}

std::vector<StepLabel> Judge::label(const EngineState& before, StepOutcome& outcome) {
  const bool is_faulty = fault_.mechanism != Mechanism::kNone && fault_.magnitude > 0;
  const EngineState healthy = is_faulty ? healed(before) : before;
  const StepOutcome twin = is_faulty ? stack_.step(healthy, Fault(), 0) : outcome;
  const Comparison comparison = is_faulty ? compare(before, outcome, twin) : Comparison();
  std::vector<StepLabel> labels;
  for (std::size_t rank = 0; rank < outcome.latency_ns.size(); ++rank) {
    labels.push_back(judge(comparison, healthy, outcome, twin, rank));
    StepLabel& label = labels.back();
    label.pid = stack_.pid(static_cast<int>(rank));
    if (config_.ranks > 1) label.rank = static_cast<std::int32_t>(rank);
    for (OperatorLabel& op : label.operators) {
      if (config_.ranks <= 1) op.rank = -1;
    }
  }
  if (config_.ranks > 1) {
    if (outcome.hang_rank >= 0) {
      label_hang(outcome, labels);
    } else if (is_faulty) {
      tie_ranks(comparison, labels);
    }
    labels.push_back(horizontal(labels));
  }
  for (StepLabel& label : labels) {
    if (label.state != StepState::kCause) continue;
    if (!outcome.plan.preempted.empty() || !outcome.lines.empty()) label.visible_in = "both";
    label.explanation = explain(label, outcome);
    for (const int request : comparison.requests) {
      if (std::find(harmed_.begin(), harmed_.end(), request) == harmed_.end()) {
        harmed_.push_back(request);
      }
    }
  }
  if (is_faulty) note_losses(outcome, twin);
  return labels;
}

}  // namespace teller::simulate
