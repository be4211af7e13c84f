#include "base/bounded_counts.h"

#include <algorithm>
#include <vector>

namespace teller {

CountsByText bounded_counts(CountsByText counts) {
  std::uint64_t other = 0;
  for (auto at = counts.begin(); at != counts.end();) {
    const bool keep = at->first.size() <= kMostCountText;
    if (!keep) other += at->second;
    at = keep ? std::next(at) : counts.erase(at);
  }
  if (counts.size() > kMostCounts) {
    std::vector<CountsByText::iterator> all;
    for (auto at = counts.begin(); at != counts.end(); ++at) all.push_back(at);
    std::stable_sort(all.begin(), all.end(), [](auto a, auto b) { return a->second > b->second; });
    for (std::size_t i = kMostCounts; i < all.size(); ++i) {
      other += all[i]->second;
      counts.erase(all[i]);
    }
  }
  if (other > 0) counts[kOtherCounts] += other;
  return counts;
}

}  // namespace teller
