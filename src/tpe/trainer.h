// Learns merges from sequences of symbols.
#pragma once

#include <cstdint>
#include <vector>

#include "tpe/cells.h"
#include "tpe/vocabulary.h"

namespace teller::tpe {

struct Learnt {
  std::vector<Merge> merges;
  std::uint64_t joined = 0;  // how many tokens fewer there are after merging
};

// Byte pair encoding on symbols (paper, section 3.5 and Algorithm 2): merges the most frequent
// adjacent pair, counted without overlaps from the left, until `max_merges` are found or no pair
// occurs twice; of equally frequent pairs the one with the smaller (left, right).
//
// `cells`: sequences of ids below `first_merge`, kBarrier first, last and between them; fewer than
// 2^32 cells, and first_merge + max_merges <= kMaxVocabularySize. Ids that are specials take part
// in no merge. Merge i gets id first_merge + i. Time and memory are linear in the cells, but for a
// factor that depends on the vocabulary's size alone.
Learnt learn_merges(Cells cells, std::uint32_t first_merge, std::uint32_t max_merges);

}  // namespace teller::tpe
