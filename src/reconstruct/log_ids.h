// Finds the ids of known requests in text, in time linear in the text. Private to reconstruct/ and
// its tests.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/interner.h"
#include "run_folder/chains.h"

namespace teller {

class RequestMatcher {
 public:
  // `ids` lives longer than the matcher; request r has id r + 1 there.
  explicit RequestMatcher(const Interner& ids);

  // Number of the first request that `text` names as a whole word; kNoIndex if it names none.
  std::uint32_t find(std::string_view text) const;
  // Number of the request that `id`, which is all of an id, stands for, in whichever spelling;
  // kNoIndex for none.
  std::uint32_t same_request(std::string_view id) const;

 private:
  void add_alias(std::string_view alias, std::uint32_t request);
  std::uint32_t lookup(std::string_view token) const;
  bool is_id_char(char c) const { return id_chars_[static_cast<unsigned char>(c)]; }

  std::unordered_map<std::string_view, std::uint32_t> requests_;  // whole ids
  std::unordered_map<std::string_view, std::uint32_t> aliases_;   // kNoIndex: of several requests
  std::vector<bool> id_chars_;  // characters that may stand inside an id of this run
};

}  // namespace teller
