// The innermost range around an item, calls left out. Private to reconstruct/.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "reconstruct/workspace.h"

namespace teller {

// Calls lie in calls (the runtime's hold the driver's), in a hostile file a million deep: what was
// climbed once is remembered. For as long as no call gets another parent.
class RangeAround {
 public:
  explicit RangeAround(const std::vector<Item>& items) : items_(items) {}

  // The nearest ancestor of `index` that is no call; kNoIndex for none.
  std::uint32_t of(std::uint32_t index) {
    std::uint32_t at = items_[index].parent;
    climbed_.clear();
    while (at != kNoIndex && items_[at].kind == ItemKind::kCall) {
      const auto known = known_.find(at);
      if (known != known_.end()) {
        at = known->second;
        break;
      }
      climbed_.push_back(at);
      at = items_[at].parent;
    }
    for (const std::uint32_t call : climbed_) known_[call] = at;
    return at;
  }

 private:
  const std::vector<Item>& items_;
  std::unordered_map<std::uint32_t, std::uint32_t> known_;  // by call around another item
  std::vector<std::uint32_t> climbed_;
};

}  // namespace teller
