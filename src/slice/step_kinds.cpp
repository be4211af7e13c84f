#include "slice/step_kinds.h"

#include <cmath>

namespace teller::slice_detail {
namespace {
constexpr double kExpectedShare = 0.99;
}

StepKind kind_of(Phase phase, float log_tokens) {
  const auto first = 64 * static_cast<StepKind>(phase);
  if (log_tokens < 0) return first;
  // A little more than the exact logarithm, so that rounding does not put 2^n - 1 one lower.
  const double doublings = std::floor(static_cast<double>(log_tokens) / std::log(2.0) + 1e-5);
  return first + 1 + static_cast<StepKind>(std::min(doublings, 62.0));
}

std::uint32_t KindPresence::steps_with(std::uint32_t key, StepKind kind) const {
  if (key >= keys.size()) return 0;
  const auto found = keys[key].find(kind);
  return found == keys[key].end() ? 0 : found->second;
}

std::uint32_t KindPresence::steps_of(StepKind kind) const {
  const auto found = steps.find(kind);
  return found == steps.end() ? 0 : found->second;
}

std::vector<StepKind> step_kinds(const Chains& chains, const std::vector<Observation>& observations,
                                 const KeyTable& keys) {
  std::vector<StepKind> kinds(chains.step_count(), kNoKind);
  for (const Observation& o : observations) {
    const OpKey& key = keys.key(o.key);
    if (key.owned || kinds[o.step] != kNoKind) continue;
    kinds[o.step] = kind_of(key.phase, o.log_tokens);
  }
  return kinds;
}

void count_kinds(KindPresence& presence, const Chains& chains,
                 const std::vector<Observation>& observations, const KeyTable& keys) {
  presence.keys.resize(keys.size());
  presence.parents.resize(keys.size());
  const std::vector<StepKind> kinds = step_kinds(chains, observations, keys);
  for (const StepKind kind : kinds) {
    if (kind != kNoKind) ++presence.steps[kind];
  }
  std::vector<std::uint32_t> last_step(keys.size(), kNoIndex);
  for (const Observation& o : observations) {
    if (keys.key(o.key).owned || last_step[o.key] == o.step) continue;
    last_step[o.key] = o.step;
    ++presence.keys[o.key][kinds[o.step]];
    const std::uint32_t parent = chains.nodes.parent[o.node];
    if (presence.parents[o.key].empty() && parent != kNoIndex) {
      presence.parents[o.key] = chains.string(chains.nodes.family[parent]);
    }
  }
}

std::map<StepKind, std::vector<std::uint32_t>> expected_keys(const KindPresence& presence,
                                                             std::uint32_t least) {
  std::map<StepKind, std::vector<std::uint32_t>> expected;
  for (std::uint32_t key = 0; key < presence.keys.size(); ++key) {
    for (const auto& [kind, steps] : presence.keys[key]) {
      const std::uint32_t all = presence.steps_of(kind);
      if (all >= least && steps >= kExpectedShare * all) expected[kind].push_back(key);
    }
  }
  return expected;
}

}  // namespace teller::slice_detail
