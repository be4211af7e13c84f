// Symbols of trace nodes: (layer, family) as text, and as ids of a vocabulary.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "run_folder/chains.h"
#include "tpe/vocabulary.h"

namespace teller::tpe {

inline constexpr std::size_t kLayerCount = 6;

// "[K,gemm]": the symbol of a node. The family's bytes that are no UTF-8 become U+FFFD.
std::string symbol_text(Layer layer, std::string_view family);
// "[K]": stands for the families of a layer that a vocabulary does not hold.
std::string other_text(Layer layer);

// Ids of a run's nodes in a vocabulary.
class SymbolIds {
 public:
  SymbolIds(const Vocabulary& vocabulary, const Chains& chains);
  // The node's symbol; else its layer's `other`; else kUnknown.
  Id of(std::uint32_t node);
  bool is_other(Id id) const { return is_other_[id]; }

 private:
  Id look_up(std::uint32_t node) const;

  const Chains& chains_;
  std::unordered_map<std::string, Id> ids_;  // looked up only, never walked
  std::vector<bool> is_other_;               // by id
  std::vector<Id> known_;                    // by family and layer
};

}  // namespace teller::tpe
