#include "tpe/merger.h"

namespace teller::tpe {

Merger::Merger(const Vocabulary& vocabulary)
    : first_merge_(vocabulary.first_merge()),
      merges_(vocabulary.merges),
      lengths_(token_lengths(vocabulary)),
      lists_(vocabulary.merges.size()),
      waiting_(vocabulary.merges.size() / 64 + 1) {
  for (std::uint32_t rank = 0; rank < merges_.size(); ++rank) {
    ranks_.insert(merges_[rank].left, merges_[rank].right, rank);
  }
}

void Merger::note(Id left, Id right, std::size_t cell) {
  const std::uint32_t rank = ranks_.find(left, right);
  if (rank == PairMap::kNone) return;
  const auto place = static_cast<std::uint32_t>(places_.size());
  places_.push_back({static_cast<std::uint32_t>(cell), kEnd});
  List& list = lists_[rank];
  if (list.head == kEnd) {
    list.head = place;
    waiting_[rank / 64] |= std::uint64_t{1} << (rank % 64);
  } else {
    places_[list.tail].next = place;
  }
  list.tail = place;
}

void Merger::apply(std::uint32_t rank, Cells& cells) {
  const auto [left, right] = merges_[rank];
  const auto merged = static_cast<Id>(first_merge_ + rank);
  const std::uint32_t left_length = lengths_[left], right_length = lengths_[right];
  std::uint32_t at = lists_[rank].head;
  lists_[rank] = {};
  for (; at != kEnd; at = places_[at].next) {
    const std::size_t first = places_[at].cell;
    if (cells[first] != left || cells[first + left_length] != right) continue;
    const std::size_t middle = first + left_length, end = middle + right_length;
    lay_token(cells, first, middle, end, merged);
    if (const Id before = cells[first - 1]; before != kBarrier) {
      note(before, merged, first - lengths_[before]);
    }
    if (const Id after = cells[end]; after != kBarrier) note(merged, after, first);
  }
}

void Merger::merge(Cells& cells) {
  places_.clear();
  for (std::size_t i = 1; i + 2 < cells.size(); ++i) {
    if (cells[i] != kBarrier && cells[i + 1] != kBarrier) note(cells[i], cells[i + 1], i);
  }
  for (std::size_t word = 0; word < waiting_.size(); ++word) {
    while (waiting_[word] != 0) {
      const int bit = std::countr_zero(waiting_[word]);
      waiting_[word] &= waiting_[word] - 1;
      apply(static_cast<std::uint32_t>(word * 64 + bit), cells);
    }
  }
}

void Merger::collect(const Cells& cells, std::vector<Id>& ids) const {
  for (std::size_t i = 0; i < cells.size();) {
    if (cells[i] == kBarrier) {
      ++i;
      continue;
    }
    ids.push_back(cells[i]);
    i += lengths_[cells[i]];
  }
}

}  // namespace teller::tpe
