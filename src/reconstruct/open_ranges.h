// Start/end ranges that have not ended, by what ties an end to its start. Private to reconstruct/.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "run_folder/chains.h"
#include "teller/event.h"

namespace teller {

// What a start/end range is known by. An id says nothing outside its process, domain and category.
struct RangeKey {
  std::int64_t pid = 0;
  std::uint64_t id = 0;
  StringId domain = 0;
  StringId category = 0;

  bool operator==(const RangeKey& other) const = default;
};

struct RangeKeyHash {
  std::size_t operator()(const RangeKey& key) const {
    std::uint64_t hash = 14695981039346656037u;
    for (const std::uint64_t part : {static_cast<std::uint64_t>(key.pid), key.id,
                                     std::uint64_t{key.domain} << 32 | key.category}) {
      hash = (hash ^ part) * 0x9e3779b97f4a7c15u;
      hash ^= hash >> 32;
    }
    return hash;
  }
};

// Start/end ranges that have not ended. An end closes the latest start of its id; NVTX's ends name
// no category, so one without closes the latest start of any.
class OpenRanges {
 public:
  void start(RangeKey key, std::uint32_t item) {
    open_[key].push_back(item);
    if (key.category == 0) return;
    key.category = 0;
    open_[key].push_back(item);
  }

  // The item that the end closes; kNoIndex for none. What another end has closed is passed by.
  template <typename IsOpen>
  std::uint32_t end(const RangeKey& key, IsOpen&& is_open) {
    const auto found = open_.find(key);
    if (found == open_.end()) return kNoIndex;
    std::uint32_t item = kNoIndex;
    std::vector<std::uint32_t>& starts = found->second;
    while (item == kNoIndex && !starts.empty()) {
      if (is_open(starts.back())) item = starts.back();
      starts.pop_back();
    }
    if (starts.empty()) open_.erase(found);
    return item;
  }

 private:
  std::unordered_map<RangeKey, std::vector<std::uint32_t>, RangeKeyHash> open_;
};

}  // namespace teller
