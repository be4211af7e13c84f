#include "capture/done_ids.h"

#include <algorithm>

namespace teller::capture {

void DoneIds::add(std::uint64_t id) {
  const std::uint64_t block = id / kBlockIds;
  if (block < first_known_) return;
  blocks_[block].set(id % kBlockIds);
  bound();
}

void DoneIds::add(const DoneIds& other) {
  forget_below(std::max(first_known_, other.first_known_));
  for (auto at = other.blocks_.lower_bound(first_known_); at != other.blocks_.end(); ++at) {
    blocks_[at->first] |= at->second;
  }
  bound();
}

bool DoneIds::contains(std::uint64_t id) const {
  if (id / kBlockIds < first_known_) return true;
  const auto found = blocks_.find(id / kBlockIds);
  return found != blocks_.end() && found->second.test(id % kBlockIds);
}

void DoneIds::forget_below(std::uint64_t block) {
  first_known_ = block;
  blocks_.erase(blocks_.begin(), blocks_.lower_bound(block));
}

void DoneIds::bound() {
  while (blocks_.size() > kMostBlocks) forget_below(blocks_.begin()->first + 1);
}

}  // namespace teller::capture
