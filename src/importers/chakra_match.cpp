#include "importers/chakra_match.h"

#include <algorithm>
#include <utility>

namespace teller {

ProcessMatch same_process(const OperatorTimes* times, std::int64_t pid,
                          const std::vector<ChakraCall>& calls) {
  if (times == nullptr) return {};
  std::vector<std::pair<std::size_t, const TracedProcess*>> found;
  std::size_t most = 0;
  for (const TracedProcess& process : times->processes()) {
    if (process.pid != pid) continue;
    const auto count = std::count_if(calls.begin(), calls.end(), [&](const ChakraCall& call) {
      return process.find(call.rf_id, call.name_hash) != nullptr;
    });
    found.emplace_back(count, &process);
    most = std::max(most, found.back().first);
  }
  if (most == 0 || 2 * most < calls.size()) return {};
  // So many of the best one's calls may another have: the rest tells them apart.
  std::erase_if(found, [most](const auto& one) { return 10 * one.first <= 9 * most; });
  if (found.size() == 1) return {found.front().second, {}};
  ProcessMatch match;
  for (const auto& [count, process] : found) match.like.push_back(process->source);
  std::sort(match.like.begin(), match.like.end());
  return match;
}

}  // namespace teller
