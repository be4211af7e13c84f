// Made-up units for tests of the model: in abnormal ones one token deviates, and how tells the
// type.
#pragma once

#include <random>

#include "learn/samples.h"

namespace teller::testing {

inline learn_detail::Sample make_sample(std::uint64_t seed, StepState state, FaultType type) {
  using namespace learn_detail;
  std::mt19937_64 random(seed);
  const auto uniform = [&] { return static_cast<float>(random() >> 11) * 0x1.0p-53F; };
  Sample sample;
  const std::size_t tokens = 4 + random() % 9;
  for (std::size_t i = 0; i < tokens; ++i) {
    sample.tokens.push_back(static_cast<std::uint32_t>(i));
    sample.ids.push_back(static_cast<std::uint32_t>(2 + random() % 20));
    sample.depths.push_back(static_cast<std::uint8_t>(random() % 5));
    sample.log_durations.push_back(5 * uniform());
    NodeFeatures features{};
    for (std::size_t f = 0; f < 8; ++f) features[f] = uniform() - 0.5F;
    sample.features.push_back(features);
    if (i > 0) {
      sample.edges.push_back({static_cast<std::uint16_t>(random() % i),
                              static_cast<std::uint16_t>(i), EdgeKind::kParent});
    }
  }
  sample.targets.assign(tokens, 0);
  sample.state = state;
  sample.fault_type = type;
  if (state == StepState::kCause) {
    const std::size_t guilty = random() % tokens;
    sample.features[guilty][type == FaultType::kMemory ? kComputedFall : kZMates] = 3 + uniform();
    sample.targets[guilty] = 1;
  }
  return sample;
}

}  // namespace teller::testing
