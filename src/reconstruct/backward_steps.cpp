#include "reconstruct/backward_steps.h"

#include <algorithm>
#include <tuple>

#include "reconstruct/flows.h"

namespace teller {

namespace {

// A backward operator, by where its flow ends, and the step of its forward operator.
struct Backward {
  std::uint32_t thread = 0;
  std::int64_t time_ns = 0;
  std::uint32_t step = kNoIndex;

  auto place() const { return std::tie(thread, time_ns); }
};

bool ends_earlier(const Backward& a, const Backward& b) {
  return a.place() < b.place();
}

std::vector<Backward> find_backward(const Workspace& work, std::uint16_t source) {
  const std::vector<Flow> flows = flows_of(work, source, FlowKind::kForwardBackward);
  const std::vector<std::uint32_t> forward =
      items_at_begins(work, flows, [](const Item&) { return true; });
  std::vector<Backward> all;
  all.reserve(flows.size());
  for (std::size_t i = 0; i < flows.size(); ++i) {
    const std::uint32_t step = forward[i] == kNoIndex ? kNoIndex : work.step_of[forward[i]];
    all.push_back({work.thread_of_track[flows[i].to.track], flows[i].to.time_ns, step});
  }
  std::sort(all.begin(), all.end(), ends_earlier);
  return all;
}

// For each of them the first behind it that is of another step. Many roots may begin and end at one
// time: none may go over the flows that end there.
std::vector<std::size_t> find_changes(const std::vector<Backward>& all) {
  std::vector<std::size_t> changes(all.size(), all.size());
  for (std::size_t at = all.size(); at > 1; --at) {
    const bool changes_here = all[at - 2].step != all[at - 1].step;
    changes[at - 2] = changes_here ? at - 1 : changes[at - 1];
  }
  return changes;
}

}  // namespace

std::vector<std::uint32_t> steps_of_backward(const Workspace& work, std::uint16_t source,
                                             const std::vector<std::uint32_t>& roots) {
  const std::vector<Backward> all = find_backward(work, source);
  const std::vector<std::size_t> changes = find_changes(all);
  std::vector<std::uint32_t> steps;
  for (const std::uint32_t root : roots) {
    const Item& item = work.items[root];
    const std::uint32_t thread = work.thread_of_track[item.track];
    const Backward begin{thread, item.begin_ns, kNoIndex}, end{thread, item.end_ns, kNoIndex};
    const auto first = std::lower_bound(all.begin(), all.end(), begin, ends_earlier);
    const auto behind = std::upper_bound(first, all.end(), end, ends_earlier);
    const auto at = static_cast<std::size_t>(first - all.begin());
    const bool one =
        first != behind && changes[at] >= static_cast<std::size_t>(behind - all.begin());
    steps.push_back(one ? first->step : kNoIndex);
  }
  return steps;
}

}  // namespace teller
