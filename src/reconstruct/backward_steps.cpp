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

std::vector<Backward> find_backward(const Workspace& work, std::uint16_t source) {
  std::vector<Backward> all;
  const StringId category = work.sources[source].forward_backward;
  for (const Flow& flow : flows_of(work, source, category)) {
    const Thread& thread = work.threads[work.thread_of_track[flow.from.track]];
    const std::uint32_t forward = innermost_at(work, thread, flow.from.time_ns);
    const std::uint32_t step = forward == kNoIndex ? kNoIndex : work.step_of[forward];
    all.push_back({work.thread_of_track[flow.to.track], flow.to.time_ns, step});
  }
  std::sort(all.begin(), all.end(),
            [](const Backward& a, const Backward& b) { return a.place() < b.place(); });
  return all;
}

}  // namespace

std::vector<std::uint32_t> steps_of_backward(const Workspace& work, std::uint16_t source,
                                             const std::vector<std::uint32_t>& roots) {
  const std::vector<Backward> all = find_backward(work, source);
  std::vector<std::uint32_t> steps;
  for (const std::uint32_t root : roots) {
    const Item& item = work.items[root];
    const std::uint32_t thread = work.thread_of_track[item.track];
    const Backward from{thread, item.begin_ns, kNoIndex};
    auto at = std::lower_bound(
        all.begin(), all.end(), from,
        [](const Backward& a, const Backward& b) { return a.place() < b.place(); });
    std::uint32_t step = kNoIndex;
    bool one = true;
    for (bool first = true; at != all.end() && at->thread == thread && at->time_ns <= item.end_ns;
         ++at, first = false) {
      one = one && (first || at->step == step);
      step = at->step;
    }
    steps.push_back(one ? step : kNoIndex);
  }
  return steps;
}

}  // namespace teller
