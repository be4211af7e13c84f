// A small hash map from pairs of ids to numbers.
#pragma once

#include <cstdint>
#include <vector>

#include "tpe/cells.h"

namespace teller::tpe {

// Open addressing, at most a quarter full. Numbers are below kNone.
class PairMap {
 public:
  static constexpr std::uint32_t kNone = 0xffffffff;

  PairMap() : slots_(64) {}

  // The number of a pair; kNone if it has none.
  std::uint32_t find(Id left, Id right) const {
    const std::uint32_t key = pair_key(left, right);
    for (std::size_t at = start(key);; at = (at + 1) & (slots_.size() - 1)) {
      const Slot& slot = slots_[at];
      if (slot.number == kNone || slot.key == key) return slot.number;
    }
  }

  // Gives a pair that has none a number.
  void insert(Id left, Id right, std::uint32_t number) {
    if ((count_ + 1) * 4 > slots_.size()) grow();
    place(pair_key(left, right), number);
    ++count_;
  }

 private:
  struct Slot {
    std::uint32_t key = 0;
    std::uint32_t number = kNone;
  };

  std::size_t start(std::uint32_t key) const {
    return ((key * 0x9E3779B97F4A7C15ull) >> 32) & (slots_.size() - 1);
  }
  void place(std::uint32_t key, std::uint32_t number) {
    std::size_t at = start(key);
    while (slots_[at].number != kNone) at = (at + 1) & (slots_.size() - 1);
    slots_[at] = {key, number};
  }
  void grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.number != kNone) place(slot.key, slot.number);
    }
  }

  std::vector<Slot> slots_;
  std::size_t count_ = 0;
};

}  // namespace teller::tpe
