#include "simulate/compare.h"

#include <algorithm>
#include <cstdint>
#include <map>

namespace teller::simulate {

namespace {

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

void compare_rows(const StepOutcome& outcome, const StepOutcome& twin, Comparison& out) {
  for (int request = 0; request < static_cast<int>(outcome.after.requests.size()); ++request) {
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
}

void compare_structure(const StepTree& tree, const StepTree& twin, Comparison& out) {
  std::map<Name, std::pair<int, std::int64_t>> balance;
  for (const TreeNode& node : tree.nodes) {
    auto& [count, codes] = balance[name_of(node)];
    ++count;
    codes += node.value + (node.end_ns == kOpenNs ? 1 : 0);
  }
  for (const TreeNode& node : twin.nodes) {
    auto& [count, codes] = balance[name_of(node)];
    --count;
    codes -= node.value;
  }
  for (const auto& [name, difference] : balance) {
    if (difference.first != 0 || difference.second != 0) out.other.push_back(name);
  }
}

void compare_times(const StepTree& tree, const StepTree& twin, Comparison& out) {
  SelfTimes here = self_times(tree);
  for (const auto& [name, time] : self_times(twin)) here[name] -= time;
  for (const auto& [name, time] : here) {
    if (time > 0) out.excess.emplace_back(time, name);
  }
  std::sort(out.excess.begin(), out.excess.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
}

}  // namespace

const Row* find_row(const std::vector<Row>& rows, int request) {
  for (const Row& row : rows) {
    if (row.request == request) return &row;
  }
  return nullptr;
}

OperatorLabel operator_of(const Name& name) {
  OperatorLabel label;
  label.layer = std::get<0>(name);
  label.family = std::get<1>(name);
  label.rank = std::get<2>(name);
  if (std::get<3>(name) >= 0) label.request = request_id(std::get<3>(name));
  return label;
}

Comparison compare_steps(const StepOutcome& outcome, const StepOutcome& twin) {
  Comparison out;
  compare_rows(outcome, twin, out);
  compare_structure(outcome.tree, twin.tree, out);
  compare_times(outcome.tree, twin.tree, out);
  return out;
}

}  // namespace teller::simulate
