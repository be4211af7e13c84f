// What the names of a source tell.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/huge_pages.h"
#include "run_folder/chains.h"
#include "teller/event.h"

namespace teller {

// What a name tells, worked out once per string of a source.
struct NameFacts {
  std::uint32_t name = 0;            // string of the chains
  std::uint32_t family = 0;          // string of the chains
  std::uint32_t request = kNoIndex;  // request that the name ends in
  bool known = false;
  bool collective = false;
  bool operator_name = false;  // an operator that says so only by its name (emit_nvtx)
  bool annotation = false;     // an engine's annotation of a step
  bool graph_launch = false;   // a call that launches a graph
  std::uint8_t call = 0;       // CallFacts of a call of this name
};

// The facts of those strings of a source that are names: a few of them, for most are attributes.
class NameTable {
 public:
  // Makes room for as many strings as the source has.
  void resize(std::size_t strings) {
    reserve_huge(numbers_, strings);
    numbers_.resize(strings);
  }
  std::size_t strings() const { return numbers_.size(); }
  // The facts of a string, which is a name from now on. They stay where they are.
  NameFacts& operator[](StringId name) {
    std::uint32_t& number = numbers_[name];
    if (number == 0) {
      if (used_ % kChunk == 0) chunks_.push_back(std::make_unique<NameFacts[]>(kChunk));
      number = ++used_;
    }
    return at(number - 1);
  }
  // Null for a string that is no name.
  NameFacts* find(StringId name) {
    const std::uint32_t number = name < numbers_.size() ? numbers_[name] : 0;
    return number == 0 ? nullptr : &at(number - 1);
  }
  // Has the facts of all names worked out anew where they are asked for next.
  void forget() {
    for (std::uint32_t i = 0; i < used_; ++i) at(i).known = false;
  }

 private:
  static constexpr std::uint32_t kChunk = 256;
  NameFacts& at(std::uint32_t index) { return chunks_[index / kChunk][index % kChunk]; }

  std::vector<std::uint32_t> numbers_;  // by string: index of its facts + 1; 0: none
  std::vector<std::unique_ptr<NameFacts[]>> chunks_;
  std::uint32_t used_ = 0;
};

}  // namespace teller
