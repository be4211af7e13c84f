// Checks of mapped columns before anything in them is used: they may come from anywhere.
#pragma once

#include <cstdint>
#include <span>

#include "run_folder/features.h"

namespace teller {

// Every value is below `limit`.
template <typename T>
bool all_below(std::span<const T> column, std::uint64_t limit) {
  for (const T value : column) {
    if (static_cast<std::uint64_t>(value) >= limit) return false;
  }
  return true;
}

// Every value is above `limit`.
template <typename T>
bool all_above(std::span<const T> column, std::uint64_t limit) {
  for (const T value : column) {
    if (static_cast<std::uint64_t>(value) <= limit) return false;
  }
  return true;
}

// The pieces [first, first + count) stand one behind the other and cover [0, size).
bool covers(std::span<const std::uint32_t> first, std::span<const std::uint32_t> count,
            std::uint64_t size);
// Both ends of every edge lie in the piece of nodes of the edge's own unit. After covers().
bool edges_inside(std::span<const std::uint32_t> first_node,
                  std::span<const std::uint32_t> node_count,
                  std::span<const std::uint32_t> first_edge,
                  std::span<const std::uint32_t> edge_count, std::span<const std::uint32_t> from,
                  std::span<const std::uint32_t> to);
// Every parent is kNoIndex, or stands before its child in the same unit. After covers().
bool parents_inside(std::span<const std::uint32_t> first_node,
                    std::span<const std::uint32_t> node_count,
                    std::span<const std::uint32_t> parent);
bool edge_kinds_known(std::span<const std::uint8_t> kinds);
bool all_finite(std::span<const float> column);
// Finite, and within +-kFeatureLimit.
bool features_sane(std::span<const NodeFeatures> column);

}  // namespace teller
