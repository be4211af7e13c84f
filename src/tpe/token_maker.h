// Turns units into tokens.
#pragma once

#include <vector>

#include "run_folder/chains.h"
#include "run_folder/slices.h"
#include "run_folder/tokens.h"
#include "tpe/merger.h"
#include "tpe/symbols.h"
#include "tpe/tpe.h"
#include "tpe/units.h"

namespace teller::tpe {

// Appends one unit after the other to a TokensBuilder. A token's attributes are those of Algorithm
// 2 (paper, section 3.5): parent and depth of its first node, durations added up. A parent that was
// absorbed is replaced by the token that absorbed it; since nodes stand in preorder, a token is
// never its own parent.
class TokenMaker {
 public:
  TokenMaker(const Vocabulary& vocabulary, const Chains& chains, const Slices& slices,
             const EncodeOptions& options);

  // Units one after the other, from 0 on.
  void add(std::uint32_t unit);
  TokensBuilder& tokens() { return out_; }
  const EncodeCounts& counts(View view) const { return counts_[static_cast<std::size_t>(view)]; }

 private:
  struct Unit;
  void protect(Unit& unit) const;
  void segment(Unit& unit, std::size_t begin, std::size_t end);
  void add_token(Unit& unit, std::size_t begin, std::size_t end, Id id);
  void add_edges(const Unit& unit);
  std::int64_t duration(const UnitNode& node) const;
  void merge_features(NodeFeatures& features, const UnitNode& node) const;

  const Chains& chains_;
  const Slices& slices_;
  const EncodeOptions& options_;
  SymbolIds ids_;
  Merger merger_;
  std::vector<std::int64_t> inside_;  // per chains node: host time of its children (--self-time)
  Cells cells_;
  TokensBuilder out_;
  EncodeCounts counts_[2];
};

}  // namespace teller::tpe
