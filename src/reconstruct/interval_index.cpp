#include "reconstruct/interval_index.h"

#include <algorithm>

namespace teller {

void IntervalIndex::add(std::int64_t begin, std::int64_t end, std::uint32_t id) {
  begins_.push_back(begin);
  ids_.push_back(id);
  latest_.push_back(end);  // becomes a tree in build()
}

void IntervalIndex::build() {
  const std::size_t count = ids_.size();
  // One leaf more than there are intervals, so that a search never begins behind the last one.
  for (leaves_ = 1; leaves_ <= count;) leaves_ *= 2;
  std::vector<std::int64_t> tree(2 * leaves_, std::numeric_limits<std::int64_t>::min());
  std::copy(latest_.begin(), latest_.end(), tree.begin() + static_cast<std::ptrdiff_t>(leaves_));
  for (std::size_t at = leaves_ - 1; at > 0; --at) {
    tree[at] = std::max(tree[2 * at], tree[2 * at + 1]);
  }
  latest_ = std::move(tree);
}

std::size_t IntervalIndex::begun_by(std::int64_t time) const {
  return static_cast<std::size_t>(std::upper_bound(begins_.begin(), begins_.end(), time) -
                                  begins_.begin());
}

// Up from behind the last candidate: each left sibling holds the nearest ones not yet seen. Down
// into the first that reaches far enough, right before left.
std::size_t IntervalIndex::last_reaching(std::size_t count, std::int64_t time) const {
  for (std::size_t at = leaves_ + count; at > 1; at /= 2) {
    if (at % 2 == 0 || latest_[at - 1] < time) continue;
    for (at = at - 1; at < leaves_;) at = latest_[2 * at + 1] >= time ? 2 * at + 1 : 2 * at;
    return at - leaves_;
  }
  return kNone;
}

}  // namespace teller
