// Vocabularies of plain sequences: files with one sequence a line, symbols separated by blanks.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <ostream>
#include <unordered_map>

#include "base/file.h"
#include "base/interner.h"
#include "base/json.h"
#include "base/mapped_file.h"
#include "base/terminal.h"
#include "base/utf8.h"
#include "tpe/cells.h"
#include "tpe/merger.h"
#include "tpe/tpe.h"
#include "tpe/trainer.h"

namespace teller {

namespace {

using namespace tpe;  // NOLINT: this stage's own parts
using Json = nlohmann::ordered_json;

constexpr std::uint64_t kCellLimit = 0xfffffff0;

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

// Calls line(text) for each line; stops at the first Error.
template <typename Line>
Status each_line(std::string_view text, Line&& line) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    TELLER_CHECK_OK(line(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return {};
}

template <typename Word>
void each_word(std::string_view line, Word&& word) {
  for (std::size_t i = 0; i < line.size();) {
    if (is_blank(line[i])) {
      ++i;
      continue;
    }
    const std::size_t begin = i;
    while (i < line.size() && !is_blank(line[i])) ++i;
    word(line.substr(begin, i - begin));
  }
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const Utf8Piece piece = read_utf8(text);
    if (!piece.valid) return false;
    text.remove_prefix(piece.length);
  }
  return true;
}

// A file's sequences with their symbols numbered by first appearance, from 1 on.
struct PlainCorpus {
  Cells cells{kBarrier};
  Interner words;
  std::uint64_t sequences = 0;
};

Status read_corpus(const std::string& path, std::uint32_t vocab_size, PlainCorpus& corpus) {
  TELLER_TRY(const MappedFile map, MappedFile::open(path, "sequences"));
  corpus.cells.reserve(std::min<std::uint64_t>(map.size() / 2, kCellLimit) + 2);
  const std::string what = "reading sequences " + path + ": ";
  return each_line(map.text(), [&](std::string_view line) -> Status {
    const std::size_t before = corpus.cells.size();
    if (before + line.size() / 2 > kCellLimit) {
      return Error{ErrorCode::kUnsupported, what + "it holds too many symbols",
                   "train on a part of it"};
    }
    each_word(line, [&](std::string_view word) {
      corpus.cells.push_back(
          static_cast<Id>(std::min<std::uint32_t>(corpus.words.intern(word), kMaxVocabularySize)));
    });
    if (corpus.cells.size() == before) return {};
    corpus.cells.push_back(kBarrier);
    ++corpus.sequences;
    if (corpus.words.size() - 1 + kSpecialCount > vocab_size) {
      return Error{ErrorCode::kUsage,
                   what + "with " + std::to_string(corpus.words.size() - 1) +
                       " different symbols up to line " + std::to_string(corpus.sequences) +
                       " and " + std::to_string(kSpecialCount) +
                       " specials it exceeds --vocab-size " + std::to_string(vocab_size),
                   "give a larger --vocab-size"};
    }
    return {};
  });
}

// Gives the symbols their ids, in byte order.
Status number_symbols(const std::string& path, PlainCorpus& corpus, Vocabulary& vocabulary) {
  std::vector<std::uint32_t> order(corpus.words.size() - 1);
  std::iota(order.begin(), order.end(), 1);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return corpus.words.view(a) < corpus.words.view(b);
  });
  std::vector<Id> id_of(corpus.words.size());
  for (const std::uint32_t word : order) {
    id_of[word] = static_cast<Id>(vocabulary.first_merge());
    vocabulary.symbols.emplace_back(corpus.words.view(word));
    if (!is_utf8(vocabulary.symbols.back())) {
      return Error{ErrorCode::kCorrupt, "reading sequences " + path + ": a symbol is not UTF-8",
                   "symbols are text"};
    }
  }
  for (Id& cell : corpus.cells) {
    if (cell != kBarrier) cell = id_of[cell];
  }
  return {};
}

using IdMap = std::unordered_map<std::string_view, Id>;

// Symbols by text; views into `vocabulary`.
IdMap ids_of(const Vocabulary& vocabulary) {
  IdMap ids;
  for (std::size_t i = 0; i < vocabulary.symbols.size(); ++i) {
    ids.emplace(vocabulary.symbols[i], static_cast<Id>(kSpecialCount + i));
  }
  return ids;
}

void print_ids(const std::vector<Id>& ids, bool json, std::string& out) {
  out = json ? "{\"input_ids\": [" : "";
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (i > 0) out += json ? ", " : " ";
    out += std::to_string(ids[i]);
  }
  out += json ? "]}\n" : "\n";
}

Status check_written(std::ostream& out) {
  if (out) return {};
  return Error{ErrorCode::kIo, "writing the output: it could not be written", ""};
}

std::string symbol_of(const Vocabulary& vocabulary, Id id) {
  if (id < kSpecialCount) return std::string(kSpecialNames[id]);
  return vocabulary.symbols[id - kSpecialCount];
}

// The ids of a line {"input_ids": […]}; empty if it is none.
std::optional<std::vector<Id>> read_ids(std::string_view line) {
  const Json json = parse_json(line);
  if (!json.is_object()) return std::nullopt;
  const Json ids = json.value("input_ids", Json());
  if (!ids.is_array()) return std::nullopt;
  std::vector<Id> out;
  for (const Json& id : ids) {
    if (!id.is_number_integer() || id < 0 || id > kMaxVocabularySize) return std::nullopt;
    out.push_back(id.get<Id>());
  }
  return out;
}

}  // namespace

Result<TpeTrainSummary> tpe_train_symbols(const std::string& file, const std::string& output,
                                          const TpeTrainOptions& options) {
  if (options.vocab_size <= kSpecialCount || options.vocab_size > kMaxVocabularySize) {
    return Error{ErrorCode::kUsage,
                 "tpe-train: --vocab-size must be between " + std::to_string(kSpecialCount + 1) +
                     " and " + std::to_string(kMaxVocabularySize),
                 "256, 512 and 1024 are usual"};
  }
  PlainCorpus corpus;
  TELLER_CHECK_OK(read_corpus(file, options.vocab_size, corpus));
  if (corpus.sequences == 0) {
    return Error{ErrorCode::kCorrupt, "reading sequences " + file + ": it holds no symbol",
                 "give one sequence a line, symbols separated by blanks"};
  }
  Vocabulary vocabulary;
  vocabulary.vocab_size = options.vocab_size;
  vocabulary.of_runs = false;
  vocabulary.options_json = "{\"of\":\"symbols\"}";
  TELLER_CHECK_OK(number_symbols(file, corpus, vocabulary));
  TpeTrainSummary summary;
  summary.sequences = corpus.sequences;
  summary.symbols_read = corpus.cells.size() - 1 - corpus.sequences;
  Learnt learnt = learn_merges(std::move(corpus.cells), vocabulary.first_merge(),
                               options.vocab_size - vocabulary.first_merge());
  vocabulary.merges = std::move(learnt.merges);
  TELLER_CHECK_OK(write_file_atomic(output, vocabulary_json(vocabulary)));
  summary.distinct = summary.symbols_kept = vocabulary.symbols.size();
  summary.merges = vocabulary.merges.size();
  summary.tokens = summary.symbols_read - learnt.joined;
  return summary;
}

Status encode_symbols(const std::string& file, const std::string& vocabulary_path, bool json,
                      std::ostream& out) {
  TELLER_TRY(const Vocabulary vocabulary, read_vocabulary(vocabulary_path));
  TELLER_TRY(const MappedFile map, MappedFile::open(file, "sequences"));
  Merger merger(vocabulary);
  const IdMap symbols = ids_of(vocabulary);
  Cells cells;
  std::vector<Id> ids;
  std::string text;
  TELLER_CHECK_OK(each_line(map.text(), [&](std::string_view line) -> Status {
    if (line.size() / 2 > kCellLimit) {
      return Error{ErrorCode::kUnsupported, "encoding " + file + ": a line is too long", ""};
    }
    cells.assign(1, kBarrier);
    each_word(line, [&](std::string_view word) {
      const auto found = symbols.find(word);
      cells.push_back(found == symbols.end() ? Id{kUnknown} : found->second);
    });
    cells.push_back(kBarrier);
    merger.merge(cells);
    ids.clear();
    merger.collect(cells, ids);
    print_ids(ids, json, text);
    out << text;
    return {};
  }));
  return check_written(out);
}

Status decode_lines(const std::string& file, const std::string& vocabulary_path,
                    std::ostream& out) {
  TELLER_TRY(const Vocabulary vocabulary, read_vocabulary(vocabulary_path));
  TELLER_TRY(const MappedFile map, MappedFile::open(file, "ids"));
  std::uint64_t number = 0;
  TELLER_CHECK_OK(each_line(map.text(), [&](std::string_view line) -> Status {
    const auto ids = read_ids(line);
    ++number;
    if (!ids) {
      return Error{ErrorCode::kCorrupt,
                   "decoding " + file + ": line " + std::to_string(number) + " has no list of ids",
                   "each line is {\"input_ids\": [ID, …]}"};
    }
    TELLER_TRY(const std::vector<Id> symbols, decode(vocabulary, *ids));
    for (std::size_t i = 0; i < symbols.size(); ++i) {
      out << (i > 0 ? " " : "") << printable(symbol_of(vocabulary, symbols[i]));
    }
    out << '\n';
    return {};
  }));
  return check_written(out);
}

}  // namespace teller
