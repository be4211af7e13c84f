#include "tpe/vocabulary.h"

#include <nlohmann/json.hpp>
#include <unordered_set>

#include "base/file.h"
#include "base/json.h"
#include "base/utf8.h"

namespace teller::tpe {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t kFileLimit = 256u << 20;
constexpr std::uint64_t kLengthLimit = 1u << 31;
constexpr std::uint64_t kDecodeLimit = 1u << 28;

// Reads the parts of a vocabulary file; keeps the first thing that is wrong.
class Reader {
 public:
  Reader(const std::string& path, const Json& json) : path_(path), json_(json) {}

  Result<Vocabulary> read() {
    Vocabulary vocabulary;
    TELLER_CHECK_OK(head(vocabulary));
    TELLER_CHECK_OK(specials());
    TELLER_CHECK_OK(symbols(vocabulary));
    TELLER_CHECK_OK(merges(vocabulary));
    return vocabulary;
  }

 private:
  Error wrong(const std::string& why) const {
    return {ErrorCode::kCorrupt, "reading vocabulary " + path_ + ": " + why,
            "make it again with teller tpe-train"};
  }

  Json field(const char* key) const { return json_.value(key, Json()); }

  Status head(Vocabulary& vocabulary) const {
    if (field("format") != "teller.tpe") return wrong("it is no teller.tpe file");
    if (field("version") != 1) {
      return Error{ErrorCode::kUnsupported,
                   "reading vocabulary " + path_ + ": its version is not 1",
                   "make it again with teller tpe-train"};
    }
    const Json size = field("vocab_size");
    if (!size.is_number_integer() || size < 1 || size > kMaxVocabularySize) {
      return wrong("vocab_size is no number from 1 to " + std::to_string(kMaxVocabularySize));
    }
    vocabulary.vocab_size = size.get<std::uint32_t>();
    const Json options = field("options");
    if (!options.is_object()) return wrong("options is no object");
    vocabulary.options_json = options.dump(-1, ' ', false, Json::error_handler_t::replace);
    const Json of = options.value("of", Json());
    if (of != "runs" && of != "symbols") return wrong("options.of is neither runs nor symbols");
    vocabulary.of_runs = of == "runs";
    return {};
  }

  Status specials() const {
    const Json names = field("specials");
    bool good = names.is_array() && names.size() == kSpecialCount;
    for (std::size_t i = 0; good && i < kSpecialCount; ++i) good = names[i] == kSpecialNames[i];
    return good ? Status() : wrong("its specials are not those of this version");
  }

  Status symbols(Vocabulary& vocabulary) const {
    const auto found = json_.find("symbols");
    if (found == json_.end() || !found->is_array()) return wrong("symbols is no array");
    if (found->size() + kSpecialCount > vocabulary.vocab_size) {
      return wrong("it has " + std::to_string(found->size()) + " symbols, more than vocab_size " +
                   std::to_string(vocabulary.vocab_size) + " allows");
    }
    std::unordered_set<std::string> seen;  // looked up only, never walked
    for (const Json& symbol : *found) {
      const std::string where = "symbol " + std::to_string(vocabulary.symbols.size());
      if (!symbol.is_string() || symbol.get_ref<const std::string&>().empty()) {
        return wrong(where + " is no text");
      }
      vocabulary.symbols.push_back(symbol.get<std::string>());
      if (!seen.insert(vocabulary.symbols.back()).second) return wrong(where + " stands twice");
    }
    return {};
  }

  Status merges(Vocabulary& vocabulary) const {
    const auto found = json_.find("merges");
    if (found == json_.end() || !found->is_array()) return wrong("merges is no array");
    if (found->size() + vocabulary.first_merge() > vocabulary.vocab_size) {
      return wrong("it has " + std::to_string(found->size()) + " merges, more than vocab_size " +
                   std::to_string(vocabulary.vocab_size) + " allows");
    }
    std::vector<std::uint64_t> lengths(vocabulary.first_merge(), 1);
    std::unordered_set<std::uint32_t> seen;  // looked up only, never walked
    for (const Json& pair : *found) {
      const std::string where = "merge " + std::to_string(vocabulary.merges.size());
      const std::size_t own_id = lengths.size();
      const auto is_earlier = [&](const Json& id) {
        return id.is_number_integer() && id >= kSpecialCount && id < own_id;
      };
      if (!pair.is_array() || pair.size() != 2 || !is_earlier(pair[0]) || !is_earlier(pair[1])) {
        return wrong(where + " is no pair of symbols or earlier merges (ids " +
                     std::to_string(kSpecialCount) + " to " + std::to_string(own_id - 1) + ")");
      }
      const Merge merge{pair[0].get<Id>(), pair[1].get<Id>()};
      if (!seen.insert((std::uint32_t{merge.left} << 16) | merge.right).second) {
        return wrong(where + " stands twice");
      }
      lengths.push_back(lengths[merge.left] + lengths[merge.right]);
      if (lengths.back() > kLengthLimit) return wrong(where + " stands for too many symbols");
      vocabulary.merges.push_back(merge);
    }
    return {};
  }

  const std::string& path_;
  const Json& json_;
};

}  // namespace

std::vector<std::uint32_t> token_lengths(const Vocabulary& vocabulary) {
  std::vector<std::uint32_t> lengths(vocabulary.first_merge(), 1);
  for (const Merge& merge : vocabulary.merges) {
    lengths.push_back(lengths[merge.left] + lengths[merge.right]);
  }
  return lengths;
}

std::string vocabulary_json(const Vocabulary& vocabulary) {
  const auto text = [](const Json& value) {
    return value.dump(-1, ' ', false, Json::error_handler_t::replace);
  };
  Json merges = Json::array();
  for (const Merge& merge : vocabulary.merges) merges.push_back({merge.left, merge.right});
  std::string out = "{\n\"format\": \"teller.tpe\",\n\"version\": 1,\n\"vocab_size\": ";
  out += std::to_string(vocabulary.vocab_size);
  out += ",\n\"options\": " + vocabulary.options_json;
  out += ",\n\"specials\": " + text(Json(kSpecialNames));
  out += ",\n\"symbols\": " + text(Json(vocabulary.symbols));
  out += ",\n\"merges\": " + text(merges) + "\n}\n";
  return out;
}

Result<Vocabulary> read_vocabulary(const std::string& path) {
  TELLER_TRY(const std::string text, read_file(path, "vocabulary", kFileLimit));
  const Json json = parse_json(text);
  if (!json.is_object()) {
    return Error{ErrorCode::kCorrupt, "reading vocabulary " + path + ": it is no JSON object",
                 "give a file that teller tpe-train wrote"};
  }
  TELLER_TRY(Vocabulary vocabulary, Reader(path, json).read());
  vocabulary.sha256 = sha256_text(text);
  return vocabulary;
}

Result<std::vector<Id>> decode(const Vocabulary& vocabulary, const std::vector<Id>& ids) {
  const std::vector<std::uint32_t> lengths = token_lengths(vocabulary);
  std::uint64_t total = 0;
  for (const Id id : ids) {
    if (id >= lengths.size()) {
      return Error{ErrorCode::kCorrupt,
                   "decoding: id " + std::to_string(id) + " is not in the vocabulary, which has " +
                       std::to_string(lengths.size()),
                   "use the vocabulary that the ids were made with"};
    }
    total += lengths[id];
  }
  if (total > kDecodeLimit) {
    return Error{ErrorCode::kUsage,
                 "decoding: the ids stand for " + std::to_string(total) +
                     " symbols, more than the " + std::to_string(kDecodeLimit) + " allowed",
                 "decode fewer ids at a time"};
  }
  std::vector<Id> symbols;
  symbols.reserve(total);
  std::vector<Id> open;
  for (const Id id : ids) {
    for (open.push_back(id); !open.empty();) {
      const Id top = open.back();
      open.pop_back();
      if (top < vocabulary.first_merge()) {
        symbols.push_back(top);
        continue;
      }
      const Merge& merge = vocabulary.merges[top - vocabulary.first_merge()];
      open.push_back(merge.right);
      open.push_back(merge.left);
    }
  }
  return symbols;
}

}  // namespace teller::tpe
