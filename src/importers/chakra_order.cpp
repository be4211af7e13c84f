#include "importers/chakra_order.h"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace teller {

void set_order(std::vector<ChakraCall>& calls) {
  std::sort(calls.begin(), calls.end(),
            [](const ChakraCall& a, const ChakraCall& b) { return a.id < b.id; });
  std::map<std::int64_t, std::vector<std::size_t>> open;  // by thread; innermost last
  std::int64_t tick = 0;
  const auto close = [&](std::vector<std::size_t>& stack) {
    calls[stack.back()].end_ns = tick++;
    stack.pop_back();
  };
  for (std::size_t i = 0; i < calls.size(); ++i) {
    std::vector<std::size_t>& stack = open[calls[i].tid];
    const auto around = std::find_if(stack.rbegin(), stack.rend(), [&](std::size_t at) {
      return calls[at].id == calls[i].parent;
    });
    // A parent that is not open here (the thread's own node, a lost one) closes all.
    const auto keep = static_cast<std::size_t>(stack.rend() - around);
    while (stack.size() > keep) close(stack);
    calls[i].begin_ns = tick++;
    stack.push_back(i);
  }
  for (auto& [tid, stack] : open) {
    while (!stack.empty()) close(stack);
  }
}

void set_tied_times(std::vector<ChakraCall>& calls, const std::vector<const OperatorTime*>& tied) {
  std::unordered_map<std::uint64_t, std::size_t> index;
  for (std::size_t i = 0; i < calls.size(); ++i) index.emplace(calls[i].id, i);
  std::int64_t before = 0;
  for (const OperatorTime* time : tied) {
    if (time == nullptr) continue;
    before = time->begin_ns;
    break;
  }
  // Parents have lower ids: theirs are known already.
  for (std::size_t i = 0; i < calls.size(); ++i) {
    ChakraCall& call = calls[i];
    call.timed = tied[i] != nullptr;
    if (call.timed) {
      call.begin_ns = tied[i]->begin_ns;
      call.end_ns = tied[i]->end_ns;
      call.tid = tied[i]->tid;
    } else {
      const auto parent = index.find(call.parent);
      const bool inside = parent != index.end() && parent->second < i;
      call.begin_ns = call.end_ns = inside ? calls[parent->second].begin_ns : before;
    }
    before = call.begin_ns;
  }
}

}  // namespace teller
