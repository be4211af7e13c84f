// Which shared operators a step of its kind holds. Kind: phase and magnitude of its tokens, for
// another load picks other kernels.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "slice/observations.h"

namespace teller::slice_detail {

using StepKind = std::uint32_t;
inline constexpr StepKind kNoKind = 0xffffffff;

// 64 * phase + (0 where tokens are unknown, else 1 + floor(log2(1 + tokens))).
StepKind kind_of(Phase phase, float log_tokens);
inline constexpr StepKind kKindCount = 3 * 64;

// Of a healthy deployment: in how many steps of each kind each key was.
struct KindPresence {
  std::map<StepKind, std::uint32_t> steps;
  std::vector<std::map<StepKind, std::uint32_t>> keys;  // by key id, shared ones alone
  std::vector<std::string> parents;                     // by key id: family it stands under

  // Steps of `kind` that held `key`.
  std::uint32_t steps_with(std::uint32_t key, StepKind kind) const;
  std::uint32_t steps_of(StepKind kind) const;
};

// Adds a healthy run.
void count_kinds(KindPresence& presence, const Chains& chains,
                 const std::vector<Observation>& observations, const KeyTable& keys);

// By step: its kind as its first shared operator has it; kNoKind where it has none.
std::vector<StepKind> step_kinds(const Chains& chains, const std::vector<Observation>& observations,
                                 const KeyTable& keys);

// Keys that at least 99 % of the steps of a kind hold, by kind; kinds with fewer than `least`
// steps expect nothing.
std::map<StepKind, std::vector<std::uint32_t>> expected_keys(const KindPresence& presence,
                                                             std::uint32_t least);

}  // namespace teller::slice_detail
