// Log lines as words without what varies from run to run: numbers, ids, addresses and paths become
// typed masks, so that a model learns wording and not values.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace teller::learn_detail {

// Words of one line in order: lower case; <num>, <hex>, <path>, <id>, <time>, <url> for what
// varies; the level, if known, first as <level:warning>. At most `most`.
std::vector<std::string> log_words(std::string_view text, std::string_view level,
                                   std::size_t most = 48);

// Numbers words. 0 is padding, 1 an unknown word.
class WordTable {
 public:
  static constexpr std::uint32_t kPad = 0;
  static constexpr std::uint32_t kUnknown = 1;

  WordTable() = default;
  explicit WordTable(std::vector<std::string> words);
  std::uint32_t id(const std::string& word) const {
    const auto found = ids_.find(word);
    return found == ids_.end() ? kUnknown : found->second;
  }
  // Ids reach up to size() - 1.
  std::size_t size() const { return words_.size() + 2; }
  const std::vector<std::string>& words() const { return words_; }

 private:
  std::vector<std::string> words_;
  std::map<std::string, std::uint32_t> ids_;
};

// Counts words over many lines and keeps those seen `fewest` times or more, at most `most`: the
// most frequent first, ties by bytes.
class WordCounter {
 public:
  void add(const std::vector<std::string>& words) {
    for (const std::string& word : words) ++counts_[word];
  }
  WordTable table(std::size_t fewest, std::size_t most) const;

 private:
  std::map<std::string, std::size_t> counts_;
};

}  // namespace teller::learn_detail
