// From samples to padded tensors.
#pragma once

#include <cstdint>
#include <span>

#include "learn/model.h"
#include "learn/samples.h"

namespace teller::learn_detail {

// What is hidden from the model while it learns.
struct Hiding {
  double tokens = 0;     // share of tokens whose id becomes <unk>
  double durations = 0;  // share of samples whose durations become 0
  double words = 0;      // share of samples without words
  std::uint64_t seed = 0;
};

// Pads `samples` (at least one) to tensors. Ids beyond the shape's vocabulary become <unk>.
Batch make_batch(std::span<const Sample* const> samples, const ModelShape& shape,
                 const Hiding& hiding);

}  // namespace teller::learn_detail
