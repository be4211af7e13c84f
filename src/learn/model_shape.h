// Sizes and switches that fix the weights of a model. Stored in its bundle.
#pragma once

#include <cstdint>

#include "run_folder/features.h"
#include "run_folder/labels.h"

namespace teller::learn_detail {

// Relations of the graph layers: parent, temporal, communication.
inline constexpr std::int64_t kRelations = 3;
inline constexpr std::int64_t kCategories = static_cast<std::int64_t>(kFaultTypeCount) - 1;

struct ModelShape {
  std::int64_t vocabulary = 256;  // trace tokens
  std::int64_t words = 2;         // log words, padding and unknown included
  std::int64_t width = 64;        // d
  std::int64_t graph_layers = 2;  // L
  std::int64_t blocks = 2;
  std::int64_t heads = 4;
  bool paper = false;      // the paper's own encoder and mask (sections 3.6 and 3.7)
  bool deviations = true;  // rows and deviations as inputs
  bool operator==(const ModelShape&) const = default;
};

// Limits for shapes from files.
inline constexpr std::int64_t kMostWidth = 1024, kMostLayers = 16, kMostVocabulary = 1 << 16;

}  // namespace teller::learn_detail
