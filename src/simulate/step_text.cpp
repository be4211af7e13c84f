#include "simulate/step_text.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace teller::simulate {

using Json = nlohmann::ordered_json;

namespace {

// Ends the open ranges that do not hold `parent`'s children any more.
void close_until(const StepTree& tree, int parent, std::vector<int>& open,
                 const std::function<std::uint32_t(const TreeNode&)>& track_of,
                 Recording& recording) {
  while (!open.empty() && open.back() != parent) {
    const TreeNode& node = tree.nodes[static_cast<std::size_t>(open.back())];
    open.pop_back();
    if (node.end_ns != kOpenNs) recording.pop(track_of(node), node.end_ns);
  }
}

}  // namespace

std::string step_record_json(const StepOutcome& outcome, const EngineConfig& config,
                             const char* engine) {
  const Plan& plan = outcome.plan;
  Json req = Json::array();
  for (const Row& row : plan.served) {
    req.push_back({request_id(row.request), row.kind == RowKind::kPrefill ? "prefill" : "decode",
                   row.is_new ? 1 : 0, row.scheduled, row.computed});
  }
  Json wait = Json::array();
  for (const Row& row : plan.waiting) wait.push_back({request_id(row.request), row.computed});
  Json preempt = Json::array();
  for (const Row& row : plan.preempted) preempt.push_back({request_id(row.request), row.computed});
  Json record = {{"v", 1},
                 {"engine", engine},
                 {"step", outcome.after.step},
                 {"req", req},
                 {"wait", wait},
                 {"preempt", preempt},
                 {"kv", {plan.free_blocks, outcome.after.pool.total}},
                 {"tokens", {plan.tokens, config.token_budget}},
                 {"seqs", {plan.seats, config.max_seqs}}};
  return record.dump();
}

void record_tree(const StepTree& tree,
                 const std::function<std::uint32_t(const TreeNode&)>& track_of,
                 Recording& recording) {
  std::vector<int> open;
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
    const TreeNode& node = tree.nodes[i];
    if (node.kind == NodeKind::kCall) {
      recording.call(track_of(node), node);
      continue;
    }
    if (node.kind == NodeKind::kKernel) {
      recording.kernel(track_of(node), node);
      continue;
    }
    close_until(tree, node.parent, open, track_of, recording);
    std::string name = node.name;
    if (node.request >= 0) name += " request=" + request_id(node.request);
    recording.push(track_of(node), node.begin_ns, name, node.layer);
    open.push_back(static_cast<int>(i));
  }
  close_until(tree, -1, open, track_of, recording);
}

}  // namespace teller::simulate
