#include "slice/observations.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "base/saturate.h"

namespace teller::slice_detail {
namespace {

float log_ns(std::int64_t ns) {
  return static_cast<float>(std::log(static_cast<double>(std::max<std::int64_t>(ns, 1))));
}

float log_count(std::int64_t count) {
  return count < 0 ? -1.0F : static_cast<float>(std::log1p(static_cast<double>(count)));
}

bool is_host(const Chains& chains, std::uint32_t node) {
  return chains.layer(node) != Layer::kKernel;
}

// Host time inside each node that its children spend. Children may run on other threads, so the
// sum is clipped to the parent and never makes self time negative.
std::vector<std::int64_t> time_of_children(const Chains& chains) {
  std::vector<std::int64_t> inside(chains.node_count(), 0);
  for (std::uint32_t node = 0; node < chains.node_count(); ++node) {
    const std::uint32_t parent = chains.nodes.parent[node];
    if (parent == kNoIndex || !is_host(chains, node)) continue;
    const auto begin = std::max(chains.nodes.begin_ns[node], chains.nodes.begin_ns[parent]);
    const auto end = std::min(chains.nodes.end_ns[node], chains.nodes.end_ns[parent]);
    inside[parent] =
        saturating_add(inside[parent], std::max<std::int64_t>(saturating_sub(end, begin), 0));
  }
  return inside;
}

// Tokens, context and phase per step and, for nodes that belong to one request, per row.
class Work {
 public:
  explicit Work(const Chains& chains) : chains_(chains) {
    phases_.resize(chains.step_count(), Phase::kUnknown);
    served_.reserve(chains.row_count());
    for (std::uint32_t row = 0; row < chains.row_count(); ++row) {
      const std::uint32_t step = chains.rows.step[row];
      const auto phase = static_cast<RowPhase>(chains.rows.phase[row]);
      if (chains.rows.scheduled[row] > 0) {
        served_.try_emplace(place(step, chains.rows.request[row]), row);
      }
      if (phase == RowPhase::kPrefill) phases_[step] = Phase::kPrefill;
      if (phase == RowPhase::kDecode && phases_[step] == Phase::kUnknown) {
        phases_[step] = Phase::kDecode;
      }
    }
  }

  // Fills in phase and covariates of `o`, which has step and request.
  Phase describe(Observation& o) const {
    if (o.request != kNoIndex) {
      const auto row = served_.find(place(o.step, o.request));
      if (row == served_.end()) return Phase::kUnknown;
      o.log_tokens = log_count(chains_.rows.scheduled[row->second]);
      o.log_context = log_count(chains_.rows.computed[row->second]);
      const auto phase = static_cast<RowPhase>(chains_.rows.phase[row->second]);
      return phase == RowPhase::kPrefill ? Phase::kPrefill : Phase::kDecode;
    }
    o.log_tokens = log_count(chains_.steps.tokens[o.step]);
    o.log_context = log_count(chains_.steps.context[o.step]);
    return phases_[o.step];
  }

 private:
  static std::uint64_t place(std::uint32_t step, std::uint32_t request) {
    return (std::uint64_t{step} << 32) | request;
  }

  const Chains& chains_;
  std::vector<Phase> phases_;
  std::unordered_map<std::uint64_t, std::uint32_t> served_;  // rows; looked up only, never walked
};

bool is_measured(const Chains& chains, std::uint32_t node) {
  constexpr std::uint16_t kLeftOut = kNodeOpen | kNodeRow | kNodeMark;
  return chains.nodes.step[node] != kNoIndex && (chains.nodes.flags[node] & kLeftOut) == 0;
}

// Chains number families per run: translates them to keys without comparing strings each time.
class KeyCache {
 public:
  explicit KeyCache(const Chains& chains, KeyTable& keys) : chains_(chains), keys_(keys) {}

  std::uint32_t key(std::uint32_t node, Phase phase, bool owned) {
    const std::uint64_t packed = (std::uint64_t{chains_.nodes.family[node]} << 16) |
                                 (std::uint64_t{chains_.nodes.layer[node]} << 8) |
                                 (static_cast<std::uint64_t>(phase) << 1) | (owned ? 1U : 0U);
    const auto [found, is_new] = known_.try_emplace(packed, 0);
    if (is_new) {
      found->second = keys_.id({std::string(chains_.string(chains_.nodes.family[node])),
                                chains_.layer(node), phase, owned});
    }
    return found->second;
  }

 private:
  const Chains& chains_;
  KeyTable& keys_;
  std::unordered_map<std::uint64_t, std::uint32_t> known_;  // looked up only, never walked
};

// Which request a step runs an operator for first. Nodes come in the order in which they began.
class FirstRequests {
 public:
  explicit FirstRequests(const Chains& chains) : chains_(chains) {}

  bool is_first(std::uint32_t node) {
    const std::uint32_t step = chains_.nodes.step[node];
    if (step != step_) first_.clear();
    step_ = step;
    const std::uint32_t request = chains_.nodes.request[node];
    const std::pair key{chains_.nodes.layer[node], chains_.nodes.family[node]};
    return first_.try_emplace(key, request).first->second == request;
  }

 private:
  const Chains& chains_;
  std::uint32_t step_ = kNoIndex;
  std::map<std::pair<std::uint8_t, std::uint32_t>, std::uint32_t> first_;  // of this step
};

}  // namespace

std::string_view phase_name(Phase phase) {
  constexpr std::string_view kNames[] = {"unknown", "prefill", "decode"};
  return kNames[static_cast<std::size_t>(phase)];
}

std::uint32_t KeyTable::id(const OpKey& key) {
  const auto [found, is_new] = ids_.try_emplace(key, static_cast<std::uint32_t>(keys_.size()));
  if (is_new) keys_.push_back(&found->first);
  return found->second;
}

std::vector<Observation> observe(const Chains& chains, KeyTable& keys) {
  const std::vector<std::int64_t> inside = time_of_children(chains);
  const Work work(chains);
  KeyCache cache(chains, keys);
  FirstRequests first(chains);
  std::vector<Observation> list;
  list.reserve(chains.node_count());
  for (std::uint32_t node = 0; node < chains.node_count(); ++node) {
    if (!is_measured(chains, node)) continue;
    Observation o;
    o.node = node;
    o.step = chains.nodes.step[node];
    o.request = chains.nodes.request[node];
    o.first = o.request != kNoIndex && first.is_first(node);
    const Phase phase = work.describe(o);
    o.key = cache.key(node, phase, o.request != kNoIndex);
    const std::int64_t duration =
        saturating_sub(chains.nodes.end_ns[node], chains.nodes.begin_ns[node]);
    o.log_duration = log_ns(duration);
    o.log_self = log_ns(saturating_sub(duration, is_host(chains, node) ? inside[node] : 0));
    list.push_back(o);
  }
  return list;
}

}  // namespace teller::slice_detail
