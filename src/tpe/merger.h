// Applies a vocabulary's merges to sequences of symbols.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "tpe/cells.h"
#include "tpe/pair_map.h"
#include "tpe/vocabulary.h"

namespace teller::tpe {

// Segments sequences as training does (paper, Algorithm 2): merges in the order in which they were
// learnt, each from the left. Linear in the symbols: occurrences wait in one list per merge, and a
// merge only ever makes pairs of later merges. Not thread-safe; one object serves many sequences.
class Merger {
 public:
  explicit Merger(const Vocabulary& vocabulary);

  // Merges `cells` in place: kBarrier first and last, and wherever no merge may pass. Afterwards a
  // token stands in its first cell, and the next one follows length(id) cells later.
  void merge(Cells& cells);
  std::uint32_t length(Id id) const { return lengths_[id]; }
  // Appends the tokens of merged `cells` to `ids`; barriers are left out.
  void collect(const Cells& cells, std::vector<Id>& ids) const;

 private:
  static constexpr std::uint32_t kEnd = 0xffffffff;
  // Places at which the pair of one merge was seen, in order.
  struct Place {
    std::uint32_t cell = 0;
    std::uint32_t next = kEnd;
  };
  struct List {
    std::uint32_t head = kEnd;
    std::uint32_t tail = kEnd;
  };

  void note(Id left, Id right, std::size_t cell);
  void apply(std::uint32_t rank, Cells& cells);

  std::uint32_t first_merge_;
  std::vector<Merge> merges_;
  std::vector<std::uint32_t> lengths_;
  PairMap ranks_;
  std::vector<Place> places_;
  std::vector<List> lists_;             // per rank
  std::vector<std::uint64_t> waiting_;  // a bit per rank: its list is not empty
};

}  // namespace teller::tpe
