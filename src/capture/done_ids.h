// The correlation ids of which an activity has come.
#pragma once

#include <bitset>
#include <cstdint>
#include <map>

namespace teller::capture {

// Not thread-safe. One bit per id, as ids are dense. Memory is bounded (some 16 MiB, over 100
// million ids in a row): beyond, the lowest ids are forgotten.
class DoneIds {
 public:
  void add(std::uint64_t id);
  void add(const DoneIds& other);
  // True for an id that was added, and for one so low that it cannot be told any more: what is not
  // known must not read as "in flight".
  bool contains(std::uint64_t id) const;
  bool empty() const { return blocks_.empty() && first_known_ == 0; }
  std::uint64_t bytes() const { return blocks_.size() * sizeof(Block); }

 private:
  static constexpr std::uint64_t kBlockIds = 4096;
  static constexpr std::size_t kMostBlocks = 32768;
  using Block = std::bitset<kBlockIds>;

  void forget_below(std::uint64_t block);
  void bound();

  std::map<std::uint64_t, Block> blocks_;  // by id / kBlockIds
  std::uint64_t first_known_ = 0;          // the block below which all are forgotten
};

}  // namespace teller::capture
