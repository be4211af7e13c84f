#include "slice/presence.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace teller::slice_detail {
namespace {

// Phase and tokens of each step, as its shared observations have them.
struct StepFacts {
  Phase phase = Phase::kUnknown;
  float log_tokens = -1;
  bool known = false;
};

std::vector<StepFacts> step_facts(const Chains& chains,
                                  const std::vector<Observation>& observations,
                                  const KeyTable& keys) {
  std::vector<StepFacts> facts(chains.step_count());
  for (const Observation& o : observations) {
    const OpKey& key = keys.key(o.key);
    if (!key.owned && !facts[o.step].known) facts[o.step] = {key.phase, o.log_tokens, true};
  }
  return facts;
}

}  // namespace

TokenRanges no_ranges() {
  TokenRanges ranges;
  ranges.fill({std::numeric_limits<float>::max(), std::numeric_limits<float>::lowest()});
  return ranges;
}

void widen(TokenRanges& ranges, const std::vector<Observation>& observations,
           const KeyTable& keys) {
  for (const Observation& o : observations) {
    const OpKey& key = keys.key(o.key);
    if (key.owned) continue;
    auto& [low, high] = ranges[static_cast<std::size_t>(key.phase)];
    low = std::min(low, o.log_tokens);
    high = std::max(high, o.log_tokens);
  }
}

TokenRanges overlap(const TokenRanges& a, const TokenRanges& b) {
  TokenRanges both;
  for (std::size_t i = 0; i < both.size(); ++i) {
    both[i] = {std::max(a[i].first, b[i].first), std::min(a[i].second, b[i].second)};
  }
  return both;
}

void count_presence(Presence& presence, const Chains& chains,
                    const std::vector<Observation>& observations, const KeyTable& keys,
                    const TokenRanges& ranges) {
  presence.keys.resize(keys.size());
  std::vector<StepFacts> facts = step_facts(chains, observations, keys);
  for (StepFacts& step : facts) {
    const auto phase = static_cast<std::size_t>(step.phase);
    const auto [low, high] = ranges[phase];
    step.known = step.known && low <= step.log_tokens && step.log_tokens <= high;
    if (step.known) ++presence.steps[phase];
  }
  std::vector<std::uint32_t> last_step(keys.size(), kNoIndex);
  for (const Observation& o : observations) {
    const StepFacts& step = facts[o.step];
    if (!step.known) continue;
    const double self_ns = std::exp(static_cast<double>(o.log_self));
    presence.self_ns[static_cast<std::size_t>(step.phase)] += self_ns;
    if (keys.key(o.key).owned) continue;
    KeyPresence& one = presence.keys[o.key];
    if (one.instances++ == 0) {
      const std::uint32_t parent = chains.nodes.parent[o.node];
      if (parent != kNoIndex) one.parent = chains.string(chains.nodes.family[parent]);
    }
    if (last_step[o.key] != o.step) ++one.steps;
    last_step[o.key] = o.step;
    one.self_ns += self_ns;
  }
}

}  // namespace teller::slice_detail
