// What is open on a thread as its items are placed. Private to reconstruct/.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "reconstruct/workspace.h"

namespace teller {

// The items around the next one, outermost first. No end may lie behind that of an item further
// out, and none may change while its item is here: those of one sort that end together are then a
// run, and are stepped over as one. However many are open, few ends lie close to a time.
class OpenItems {
 public:
  static constexpr std::size_t kNone = std::numeric_limits<std::uint32_t>::max();
  static constexpr std::size_t kSorts = 32;  // `sort` is below

  explicit OpenItems(const std::vector<Item>& items) : items_(items) { clear(); }

  bool empty() const { return open_.empty(); }
  std::size_t size() const { return open_.size(); }
  std::uint32_t back() const { return open_.back().item; }
  std::uint32_t at(std::size_t place) const { return open_[place].item; }

  void clear() {
    open_.clear();
    innermost_.fill(static_cast<std::uint32_t>(kNone));
  }

  void push_back(std::uint32_t item, std::uint8_t sort) {
    const auto place = static_cast<std::uint32_t>(open_.size());
    const std::uint32_t outer = innermost_[sort];
    const bool same_end = outer != kNone && items_[at(outer)].end_ns == items_[item].end_ns;
    open_.push_back({item, outer, same_end ? open_[outer].run : place, sort});
    innermost_[sort] = place;
  }

  void pop_back() {
    innermost_[open_.back().sort] = open_.back().outer;
    open_.pop_back();
  }

  // The outermost of the run of this sort that stands innermost; kNone where there is none.
  std::size_t innermost_run(std::uint8_t sort) const { return run_of(innermost_[sort]); }
  // The outermost of the next run of the same sort, further out than the run that begins at `run`.
  std::size_t next_run(std::size_t run) const { return run_of(open_[run].outer); }

 private:
  struct Open {
    std::uint32_t item;
    std::uint32_t outer;  // place of the next one of its sort, further out
    std::uint32_t run;    // place of the outermost of its sort that ends when it does
    std::uint8_t sort;
  };

  std::size_t run_of(std::uint32_t place) const {
    return place == kNone ? kNone : open_[place].run;
  }

  const std::vector<Item>& items_;
  std::vector<Open> open_;
  std::array<std::uint32_t, kSorts> innermost_;  // places, by sort
};

}  // namespace teller
