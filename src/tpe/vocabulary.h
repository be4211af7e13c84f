// The vocabulary of trace pair encoding (TPE): specials, symbols and merges, and its file
// (tpe.json). docs/tpe.md.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "teller/result.h"

namespace teller::tpe {

// Index into the vocabulary: specials, then symbols, then merges in the order in which they were
// learnt.
using Id = std::uint16_t;

// Ids that every vocabulary has. Numbers are written to files.
enum Special : Id {
  kPad = 0,
  kUnknown = 1,  // a symbol that the vocabulary does not hold and that no layer stands for
  kClass = 2,
  kSeparator = 3,
  kMask = 4,
  kGhost = 5,  // a node that should be there and is not (docs/slice.md)
};
inline constexpr std::string_view kSpecialNames[] = {"<pad>", "<unk>",  "<cls>",
                                                     "<sep>", "<mask>", "<ghost>"};
inline constexpr std::uint32_t kSpecialCount = 6;
inline constexpr std::uint32_t kMaxVocabularySize = 65000;  // ids above are marks, see merger.h

// A token that stands for two others, each of which has a smaller id than its own.
struct Merge {
  Id left = 0;
  Id right = 0;
  bool operator==(const Merge&) const = default;
};

struct Vocabulary {
  std::uint32_t vocab_size = 0;      // that was asked for; size() may be less
  bool of_runs = true;               // symbols are "[LAYER,family]"; else plain words
  std::vector<std::string> symbols;  // UTF-8; id of symbol i: kSpecialCount + i
  std::vector<Merge> merges;         // id of merge i: first_merge() + i
  std::string options_json = "{}";   // what it was made from
  std::string sha256;                // of the file; set by read_vocabulary

  std::uint32_t first_merge() const {
    return kSpecialCount + static_cast<std::uint32_t>(symbols.size());
  }
  std::uint32_t size() const { return first_merge() + static_cast<std::uint32_t>(merges.size()); }
};

// Symbols per token (1 for specials and symbols), indexed by id.
std::vector<std::uint32_t> token_lengths(const Vocabulary& vocabulary);

// The file's text: one JSON object, format "teller.tpe", version 1.
std::string vocabulary_json(const Vocabulary& vocabulary);
// Reads and checks `path`: known format and version, specials as above, no symbol twice, each merge
// of two earlier ids that are no specials, no merge twice, no token of more than 2^31 symbols.
Result<Vocabulary> read_vocabulary(const std::string& path);

// The tokens as ids of symbols and specials: what was there before merging. An Error for an id that
// the vocabulary lacks, or if more than 2^28 symbols would come out.
Result<std::vector<Id>> decode(const Vocabulary& vocabulary, const std::vector<Id>& ids);

}  // namespace teller::tpe
