// Finds the intervals around a time in logarithmic time, however many overlap and however long some
// of them are. Private to reconstruct/ and its tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace teller {

class IntervalIndex {
 public:
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

  // Intervals are added by begin; `id` is the caller's.
  void add(std::int64_t begin, std::int64_t end, std::uint32_t id);
  // To be called once, after the last add().
  void build();

  std::size_t size() const { return ids_.size(); }
  std::uint32_t id(std::size_t at) const { return ids_[at]; }
  // How many began at `time` or before.
  std::size_t begun_by(std::int64_t time) const;
  // The last of the first `count` intervals that ends at `time` or later; kNone if none does.
  std::size_t last_reaching(std::size_t count, std::int64_t time) const;

 private:
  std::vector<std::int64_t> begins_;
  std::vector<std::uint32_t> ids_;
  std::vector<std::int64_t> latest_;  // heap-shaped: latest end below each; leaves at leaves_ + i
  std::size_t leaves_ = 0;
};

}  // namespace teller
