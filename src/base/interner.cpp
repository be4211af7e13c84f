#include "base/interner.h"

#include <xxhash.h>

#include <algorithm>

namespace teller {

namespace {
constexpr std::size_t kFirstSlots = 256;
constexpr std::size_t kPageBytes = 1 << 16;
}  // namespace

Interner::Interner() : views_{std::string_view{}}, slots_(kFirstSlots) {}

std::uint32_t Interner::intern(std::string_view text) {
  if (text.empty()) return 0;
  const std::uint64_t hash = XXH3_64bits(text.data(), text.size());
  std::size_t mask = slots_.size() - 1;
  for (std::size_t at = hash & mask;; at = (at + 1) & mask) {
    Slot& slot = slots_[at];
    if (slot.id == 0) {
      const auto id = static_cast<std::uint32_t>(views_.size());
      slot = {hash, id};
      views_.push_back(store(text));
      if (views_.size() * 2 > slots_.size()) grow();
      return id;
    }
    if (slot.hash == hash && views_[slot.id] == text) return slot.id;
  }
}

std::string_view Interner::store(std::string_view text) {
  if (pages_.empty() || pages_.back().capacity() - pages_.back().size() < text.size()) {
    pages_.emplace_back().reserve(std::max(kPageBytes, text.size()));
  }
  std::string& page = pages_.back();
  const std::size_t begin = page.size();
  page.append(text);
  return std::string_view(page).substr(begin, text.size());
}

void Interner::grow() {
  std::vector<Slot> larger(slots_.size() * 2);
  const std::size_t mask = larger.size() - 1;
  for (const Slot& slot : slots_) {
    if (slot.id == 0) continue;
    std::size_t at = slot.hash & mask;
    while (larger[at].id != 0) at = (at + 1) & mask;
    larger[at] = slot;
  }
  slots_.swap(larger);
}

}  // namespace teller
