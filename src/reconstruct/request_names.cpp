// Brings together the names that one request has in several processes.
#include <algorithm>
#include <string>
#include <unordered_map>
#include <vector>

#include "reconstruct/passes.h"

namespace teller {

namespace {

constexpr std::size_t kSuffixDigits = 8;

// vLLM's engine knows a request by the API server's id and a random suffix,
// "cmpl-my-req-0-871d72e8": the id before the suffix; "" if the name has none.
std::string_view without_suffix(std::string_view name) {
  if (name.size() < kSuffixDigits + 2) return {};
  const std::size_t dash = name.size() - kSuffixDigits - 1;
  const bool digits =
      std::all_of(name.begin() + static_cast<std::ptrdiff_t>(dash) + 1, name.end(),
                  [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
  return name[dash] == '-' && digits ? name.substr(0, dash) : std::string_view();
}

}  // namespace

void join_request_names(Workspace& work) {
  std::vector<bool> has_rows(work.request_ids.size(), false);
  for (const std::uint32_t request : work.chains.rows.request) has_rows[request] = true;
  // By the API server's id: the only request of an engine that has it; kNoIndex for several.
  std::unordered_map<std::string_view, std::uint32_t> engines_own;
  for (std::uint32_t request = 0; request + 1 < work.request_ids.size(); ++request) {
    const std::string_view outer = without_suffix(work.request_ids.view(request + 1));
    if (outer.empty() || !has_rows[request]) continue;
    const auto [found, added] = engines_own.emplace(outer, request);
    if (!added) found->second = kNoIndex;
  }
  std::vector<std::uint32_t> renumbered(work.request_ids.size(), kNoIndex);
  Interner kept;
  for (std::uint32_t request = 0; request + 1 < work.request_ids.size(); ++request) {
    const std::string_view name = work.request_ids.view(request + 1);
    const auto own = engines_own.find(name);
    if (own == engines_own.end() || own->second == kNoIndex || has_rows[request]) {
      renumbered[request] = kept.intern(name) - 1;
      continue;
    }
    work.request_aliases.emplace(name, work.request_ids.view(own->second + 1));
    ++work.counters.request_names_joined;
  }
  if (work.request_aliases.empty()) return;
  work.request_ids = std::move(kept);
  for (std::uint32_t& request : work.chains.rows.request) request = renumbered[request];
  for (Source& source : work.sources) source.names.forget();
}

}  // namespace teller
