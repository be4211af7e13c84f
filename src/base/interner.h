// Gives equal strings equal small ids, in order of first appearance.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace teller {

// A string table. Id 0 is "". Not thread-safe. Views stay valid as long as the interner lives
// (moves included).
class Interner {
 public:
  Interner();
  Interner(Interner&&) noexcept = default;
  Interner& operator=(Interner&&) noexcept = default;
  Interner(const Interner&) = delete;  // views would point into the other's pages
  Interner& operator=(const Interner&) = delete;

  // Returns the id of `text`, adding a copy if it is new.
  std::uint32_t intern(std::string_view text);
  std::string_view view(std::uint32_t id) const { return views_[id]; }
  std::uint32_t size() const { return static_cast<std::uint32_t>(views_.size()); }

 private:
  struct Slot {
    std::uint64_t hash = 0;
    std::uint32_t id = 0;  // 0 = empty slot ("" is never stored)
  };
  std::string_view store(std::string_view text);
  void grow();

  std::vector<std::string_view> views_;
  std::vector<Slot> slots_;
  std::deque<std::string> pages_;  // text lives in pages that never move
};

}  // namespace teller
