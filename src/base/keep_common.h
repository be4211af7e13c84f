// What all of several sorted lists have in common, one list after the other.
#pragma once

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

namespace teller {

// Keeps of `candidates` what is in `list` too; all of `list` if there was no list before. Both are
// sorted.
template <typename T>
void keep_common(std::optional<std::vector<T>>& candidates, const std::vector<T>& list) {
  if (!candidates) {
    candidates = list;
    return;
  }
  std::vector<T> both;
  std::set_intersection(candidates->begin(), candidates->end(), list.begin(), list.end(),
                        std::back_inserter(both));
  *candidates = std::move(both);
}

}  // namespace teller
