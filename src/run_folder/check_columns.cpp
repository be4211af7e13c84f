#include "run_folder/check_columns.h"

#include <algorithm>
#include <cmath>

#include "run_folder/chains.h"

namespace teller {

bool covers(std::span<const std::uint32_t> first, std::span<const std::uint32_t> count,
            std::uint64_t size) {
  std::uint64_t next = 0;
  for (std::size_t i = 0; i < first.size(); ++i) {
    if (first[i] != next) return false;
    next += count[i];
  }
  return next == size;
}

bool edges_inside(std::span<const std::uint32_t> first_node,
                  std::span<const std::uint32_t> node_count,
                  std::span<const std::uint32_t> first_edge,
                  std::span<const std::uint32_t> edge_count, std::span<const std::uint32_t> from,
                  std::span<const std::uint32_t> to) {
  for (std::size_t unit = 0; unit < first_node.size(); ++unit) {
    const std::uint64_t begin = first_node[unit], end = begin + node_count[unit];
    for (std::size_t i = first_edge[unit]; i < std::size_t{first_edge[unit]} + edge_count[unit];
         ++i) {
      if (from[i] < begin || from[i] >= end || to[i] < begin || to[i] >= end) return false;
    }
  }
  return true;
}

bool parents_inside(std::span<const std::uint32_t> first_node,
                    std::span<const std::uint32_t> node_count,
                    std::span<const std::uint32_t> parent) {
  for (std::size_t unit = 0; unit < first_node.size(); ++unit) {
    const std::size_t begin = first_node[unit], end = begin + node_count[unit];
    for (std::size_t node = begin; node < end; ++node) {
      if (parent[node] != kNoIndex && (parent[node] < begin || parent[node] >= node)) return false;
    }
  }
  return true;
}

bool edge_kinds_known(std::span<const std::uint8_t> kinds) {
  return std::all_of(kinds.begin(), kinds.end(),
                     [](std::uint8_t kind) { return kind >= 1 && kind <= 3; });
}

bool all_finite(std::span<const float> column) {
  return std::all_of(column.begin(), column.end(), [](float x) { return std::isfinite(x); });
}

bool features_sane(std::span<const NodeFeatures> column) {
  return std::all_of(column.begin(), column.end(), [](const NodeFeatures& features) {
    return std::all_of(features.begin(), features.end(), [](float x) {
      return x >= -kFeatureLimit && x <= kFeatureLimit;  // false for NaN
    });
  });
}

}  // namespace teller
