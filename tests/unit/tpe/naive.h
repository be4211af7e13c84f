// Byte pair encoding written as plainly as the definition: what the fast one is compared with.
#pragma once

#include <map>
#include <random>
#include <utility>
#include <vector>

#include "tpe/cells.h"
#include "tpe/vocabulary.h"

namespace teller::tpe::testing {

using Sequence = std::vector<Id>;

// Replaces `merge` by `id` wherever it stands, from the left.
inline Sequence replace(const Sequence& sequence, Merge merge, Id id) {
  Sequence out;
  for (std::size_t i = 0; i < sequence.size(); ++i) {
    if (i + 1 < sequence.size() && sequence[i] == merge.left && sequence[i + 1] == merge.right) {
      out.push_back(id);
      ++i;
    } else {
      out.push_back(sequence[i]);
    }
  }
  return out;
}

// Occurrences of each pair, counted without overlaps from the left.
inline std::map<std::pair<Id, Id>, int> count(const std::vector<Sequence>& sequences) {
  std::map<std::pair<Id, Id>, int> counts;
  for (const Sequence& s : sequences) {
    std::map<std::pair<Id, Id>, std::size_t> free_from;
    for (std::size_t i = 0; i + 1 < s.size(); ++i) {
      const std::pair<Id, Id> pair{s[i], s[i + 1]};
      if (s[i] < kSpecialCount || s[i + 1] < kSpecialCount || i < free_from[pair]) continue;
      ++counts[pair];
      free_from[pair] = i + 2;
    }
  }
  return counts;
}

// Merges `sequences` in place and returns what was merged.
inline std::vector<Merge> learn(std::vector<Sequence>& sequences, Id first_merge, int max_merges) {
  std::vector<Merge> merges;
  while (static_cast<int>(merges.size()) < max_merges) {
    std::pair<Id, Id> best;
    int most = 1;
    for (const auto& [pair, times] : count(sequences)) {  // in order: the smaller pair wins a tie
      if (times > most) {
        most = times;
        best = pair;
      }
    }
    if (most < 2) break;
    merges.push_back({best.first, best.second});
    const Id id = static_cast<Id>(first_merge + merges.size() - 1);
    for (Sequence& s : sequences) s = replace(s, merges.back(), id);
  }
  return merges;
}

inline Cells to_cells(const std::vector<Sequence>& sequences) {
  Cells cells{kBarrier};
  for (const Sequence& s : sequences) {
    cells.insert(cells.end(), s.begin(), s.end());
    cells.push_back(kBarrier);
  }
  return cells;
}

// A few sequences over `alphabet` symbols, with runs of one symbol and repeated stretches.
inline std::vector<Sequence> random_sequences(std::mt19937& random, int alphabet) {
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  std::vector<Sequence> sequences(static_cast<std::size_t>(1 + below(4)));
  for (Sequence& s : sequences) {
    const std::size_t length = static_cast<std::size_t>(below(60));
    while (s.size() < length) {
      const Id id = static_cast<Id>(kSpecialCount + below(alphabet));
      const int kind = below(10);
      if (kind == 0) {
        s.insert(s.end(), static_cast<std::size_t>(1 + below(9)), id);
      } else if (kind == 1 && s.size() > 4) {
        const Sequence copy(s.end() - 4, s.end());
        s.insert(s.end(), copy.begin(), copy.end());
      } else {
        s.push_back(kind == 2 ? Id{kGhost} : id);
      }
    }
  }
  return sequences;
}

inline Vocabulary vocabulary_of(int alphabet, std::vector<Merge> merges) {
  Vocabulary vocabulary;
  for (int i = 0; i < alphabet; ++i) vocabulary.symbols.push_back("s" + std::to_string(i));
  vocabulary.merges = std::move(merges);
  vocabulary.vocab_size = vocabulary.size();
  vocabulary.options_json = "{\"of\":\"symbols\"}";
  return vocabulary;
}

}  // namespace teller::tpe::testing
