// tpe_train(): a vocabulary from the slices of runs.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "base/file.h"
#include "run_folder/open_chains.h"
#include "tpe/cells.h"
#include "tpe/symbols.h"
#include "tpe/tpe.h"
#include "tpe/trainer.h"
#include "tpe/units.h"

namespace teller {

namespace {

using namespace tpe;  // NOLINT: this stage's own parts
using Json = nlohmann::ordered_json;

constexpr std::uint32_t kMinVocabularySize = 16;
constexpr std::uint64_t kCellLimit = 0xfffffff0;

std::string slices_digest(const RunFolder& run) {
  const Json artifacts = run.manifest().value("artifacts", Json::object());
  const Json slices = artifacts.is_object() ? artifacts.value("slices", Json()) : Json();
  const Json digest = slices.is_object() ? slices.value("digest", Json()) : Json();
  return digest.is_string() ? digest.get<std::string>() : "";
}

struct Symbol {
  Layer layer = Layer::kStep;
  std::string text;
  std::uint64_t count = 0;
};

// Sequences of several runs, in symbols numbered by first appearance.
class Corpus {
 public:
  static constexpr std::uint32_t kGap = kNoIndex;          // between sequences
  static constexpr std::uint32_t kMissing = kNoIndex - 1;  // a ghost

  Status add(const std::string& path, const TpeTrainOptions& options) {
    TELLER_TRY(const RunFolder run, RunFolder::open(path));
    TELLER_TRY(const Chains chains, open_chains(run));
    TELLER_TRY(const Slices slices, open_slices(run, chains));
    digests_.push_back(slices_digest(run));
    std::vector<std::uint32_t> known(chains.string_count() * kLayerCount, kNoIndex);
    for (std::uint32_t unit = 0; unit < slices.unit_count(); ++unit) {
      if (options.view && slices.units.view[unit] != static_cast<std::uint8_t>(*options.view)) {
        continue;
      }
      add_unit(chains,
               options.whole_step ? whole_nodes(chains, slices, unit) : slice_nodes(slices, unit),
               known);
      if (cells.size() > kCellLimit) {
        return Error{ErrorCode::kUnsupported,
                     "tpe-train: the runs hold more than " + std::to_string(kCellLimit) + " nodes",
                     "train on fewer runs"};
      }
    }
    return {};
  }

  // In no order that the caller chose: a corpus is the same whatever the runs are called.
  std::vector<std::string> digests() const {
    std::vector<std::string> sorted = digests_;
    std::sort(sorted.begin(), sorted.end());
    return sorted;
  }

  std::vector<std::uint32_t> cells{kGap};
  std::vector<Symbol> symbols;
  std::uint64_t sequences = 0;

 private:
  void add_unit(const Chains& chains, const std::vector<UnitNode>& nodes,
                std::vector<std::uint32_t>& known) {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (i > 0 && nodes[i].parent == kNoIndex) end_sequence();
      cells.push_back(nodes[i].is_ghost() ? kMissing : number(chains, nodes[i].node, known));
    }
    if (!nodes.empty()) end_sequence();
  }

  void end_sequence() {
    cells.push_back(kGap);
    ++sequences;
  }

  std::uint32_t number(const Chains& chains, std::uint32_t node,
                       std::vector<std::uint32_t>& known) {
    const std::uint32_t family = chains.nodes.family[node];
    std::uint32_t& found = known[family * kLayerCount + chains.nodes.layer[node]];
    if (found == kNoIndex) {
      std::string text = symbol_text(chains.layer(node), chains.string(family));
      const auto [entry, is_new] =
          numbers_.try_emplace(text, static_cast<std::uint32_t>(symbols.size()));
      if (is_new) symbols.push_back({chains.layer(node), std::move(text), 0});
      found = entry->second;
    }
    ++symbols[found].count;
    return found;
  }

  std::unordered_map<std::string, std::uint32_t> numbers_;  // looked up only, never walked
  std::vector<std::string> digests_;
};

bool in_vocabulary_order(const Symbol& a, const Symbol& b) {
  return a.layer != b.layer ? a.layer < b.layer : a.text < b.text;
}

// The most frequent symbols and one `other` per layer, at most half of the vocabulary, in order;
// and the id of every symbol of the corpus.
std::vector<Id> choose_symbols(const std::vector<Symbol>& all, Vocabulary& vocabulary) {
  std::vector<Symbol> kept = all;
  std::sort(kept.begin(), kept.end(), [](const Symbol& a, const Symbol& b) {
    return a.count != b.count ? a.count > b.count : in_vocabulary_order(a, b);
  });
  kept.resize(std::min<std::size_t>(kept.size(), vocabulary.vocab_size / 2 - kLayerCount));
  std::vector<Id> other(kLayerCount);
  std::unordered_map<std::string, Id> ids;  // looked up only, never walked
  std::sort(kept.begin(), kept.end(), in_vocabulary_order);
  std::size_t next = 0;
  for (std::size_t layer = 0; layer < kLayerCount; ++layer) {
    other[layer] = static_cast<Id>(vocabulary.first_merge());
    vocabulary.symbols.push_back(other_text(static_cast<Layer>(layer)));
    for (; next < kept.size() && kept[next].layer == static_cast<Layer>(layer); ++next) {
      ids.emplace(kept[next].text, static_cast<Id>(vocabulary.first_merge()));
      vocabulary.symbols.push_back(kept[next].text);
    }
  }
  std::vector<Id> id_of;
  for (const Symbol& symbol : all) {
    const auto found = ids.find(symbol.text);
    id_of.push_back(found == ids.end() ? other[static_cast<std::size_t>(symbol.layer)]
                                       : found->second);
  }
  return id_of;
}

Cells to_cells(const Corpus& corpus, const std::vector<Id>& id_of) {
  Cells cells;
  cells.reserve(corpus.cells.size());
  for (const std::uint32_t symbol : corpus.cells) {
    cells.push_back(symbol == Corpus::kGap       ? kBarrier
                    : symbol == Corpus::kMissing ? Id{kGhost}
                                                 : id_of[symbol]);
  }
  return cells;
}

std::string options_text(const Corpus& corpus, const TpeTrainOptions& options) {
  Json json;
  json["of"] = "runs";
  json["view"] = options.view ? std::string(view_name(*options.view)) : "both";
  json["whole_step"] = options.whole_step;
  json["slices"] = corpus.digests();
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Status check_options(const TpeTrainOptions& options, std::uint32_t smallest) {
  if (options.vocab_size >= smallest && options.vocab_size <= kMaxVocabularySize) return {};
  return Error{ErrorCode::kUsage,
               "tpe-train: --vocab-size must be between " + std::to_string(smallest) + " and " +
                   std::to_string(kMaxVocabularySize),
               "256, 512 and 1024 are usual"};
}

}  // namespace

Result<TpeTrainSummary> tpe_train(const std::vector<std::string>& runs, const std::string& output,
                                  const TpeTrainOptions& options) {
  TELLER_CHECK_OK(check_options(options, kMinVocabularySize));
  Corpus corpus;
  for (const std::string& run : runs) TELLER_CHECK_OK(corpus.add(run, options));
  if (corpus.sequences == 0) {
    return Error{ErrorCode::kCorrupt, "tpe-train: the slices hold no unit of the views asked for",
                 "give runs that have steps"};
  }
  Vocabulary vocabulary;
  vocabulary.vocab_size = options.vocab_size;
  vocabulary.options_json = options_text(corpus, options);
  const std::vector<Id> id_of = choose_symbols(corpus.symbols, vocabulary);
  Learnt learnt = learn_merges(to_cells(corpus, id_of), vocabulary.first_merge(),
                               options.vocab_size - vocabulary.first_merge());
  vocabulary.merges = std::move(learnt.merges);
  TELLER_CHECK_OK(write_file_atomic(output, vocabulary_json(vocabulary)));
  TpeTrainSummary summary;
  summary.sequences = corpus.sequences;
  summary.symbols_read = corpus.cells.size() - 1 - corpus.sequences;
  summary.distinct = corpus.symbols.size();
  summary.symbols_kept = vocabulary.symbols.size();
  summary.merges = vocabulary.merges.size();
  summary.tokens = summary.symbols_read - learnt.joined;
  return summary;
}

}  // namespace teller
