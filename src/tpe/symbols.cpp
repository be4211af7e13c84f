#include "tpe/symbols.h"

#include "base/utf8.h"
#include "tpe/cells.h"

namespace teller::tpe {

std::string symbol_text(Layer layer, std::string_view family) {
  std::string text = "[" + std::string(layer_name(layer)) + ",";
  append_valid_utf8(family, text);
  return text + "]";
}

std::string other_text(Layer layer) {
  return "[" + std::string(layer_name(layer)) + "]";
}

SymbolIds::SymbolIds(const Vocabulary& vocabulary, const Chains& chains)
    : chains_(chains),
      is_other_(vocabulary.size()),
      known_(chains.string_count() * kLayerCount, kDead) {
  for (std::size_t i = 0; i < vocabulary.symbols.size(); ++i) {
    ids_.emplace(vocabulary.symbols[i], static_cast<Id>(kSpecialCount + i));
  }
  for (std::size_t layer = 0; layer < kLayerCount; ++layer) {
    const auto found = ids_.find(other_text(static_cast<Layer>(layer)));
    if (found != ids_.end()) is_other_[found->second] = true;
  }
}

Id SymbolIds::of(std::uint32_t node) {
  Id& id = known_[chains_.nodes.family[node] * kLayerCount + chains_.nodes.layer[node]];
  if (id == kDead) id = look_up(node);
  return id;
}

Id SymbolIds::look_up(std::uint32_t node) const {
  const Layer layer = chains_.layer(node);
  auto found = ids_.find(symbol_text(layer, chains_.string(chains_.nodes.family[node])));
  if (found == ids_.end()) found = ids_.find(other_text(layer));
  return found == ids_.end() ? Id{kUnknown} : found->second;
}

}  // namespace teller::tpe
