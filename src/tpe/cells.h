// How trainer and merger hold sequences: flat arrays of ids in which tokens lie over the cells of
// their symbols, so that neighbours are found without links.
//
//   cells   | B | a | b | c | B |      B: kBarrier before, between and behind sequences
//   merged  | B | z | z | c | B |      z = (a, b): its id in its first and its last cell
//
// A token's length follows from its id. So the next token starts at i + length, and the one before
// ends at i - 1. Cells inside a token are stale; where its right part began, kDead stands (unless
// that is its last cell), so that no occurrence noted earlier is taken for a living one.
#pragma once

#include <cstddef>
#include <vector>

#include "tpe/vocabulary.h"

namespace teller::tpe {

inline constexpr Id kBarrier = 0xffff;
inline constexpr Id kDead = 0xfffe;

using Cells = std::vector<Id>;

// Lays token `id` over the cells [first, end); its right part began at `middle`.
inline void lay_token(Cells& cells, std::size_t first, std::size_t middle, std::size_t end, Id id) {
  cells[middle] = kDead;
  cells[end - 1] = id;
  cells[first] = id;
}

inline std::uint32_t pair_key(Id left, Id right) {
  return (std::uint32_t{left} << 16) | right;
}

}  // namespace teller::tpe
