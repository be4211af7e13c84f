// Which shared operators the steps of a run hold, counted so that runs can be compared: only in
// steps with as many tokens as both runs know, for another load picks other kernels.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "slice/observations.h"

namespace teller::slice_detail {

// Of log(1 + tokens), per Phase, lowest and highest; empty (low > high) where no step was seen.
// Steps of unknown tokens count as -1.
using TokenRanges = std::array<std::pair<float, float>, 3>;
TokenRanges no_ranges();
void widen(TokenRanges& ranges, const std::vector<Observation>& observations, const KeyTable& keys);
TokenRanges overlap(const TokenRanges& a, const TokenRanges& b);

struct KeyPresence {
  std::size_t steps = 0;
  std::size_t instances = 0;
  double self_ns = 0;
  std::string parent;  // family that its first instance stands under
};

struct Presence {
  std::vector<KeyPresence> keys;       // by key id
  std::array<std::size_t, 3> steps{};  // per Phase, in range
  std::array<double, 3> self_ns{};     // of everything in them
};

// Adds a run's steps that lie in `ranges`.
void count_presence(Presence& presence, const Chains& chains,
                    const std::vector<Observation>& observations, const KeyTable& keys,
                    const TokenRanges& ranges);

}  // namespace teller::slice_detail
