#include "reconstruct/flows.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

namespace teller {

namespace {

// A start or an end of a flow.
struct Tip {
  StringId category = 0;
  std::uint64_t id = 0;
  FlowPlace place;

  bool same_flow(const Tip& other) const { return category == other.category && id == other.id; }
  auto order() const { return std::tie(category, id, place.time_ns, place.track); }
};

struct Tips {
  std::vector<Tip> starts;
  std::vector<Tip> ends;
};

void add_tip(const Source& source, const EventRecord& event, std::vector<Tip>& tips) {
  std::int64_t time = 0;
  if (__builtin_add_overflow(event.begin_ns, source.shift_ns, &time)) return;
  const std::uint32_t track = source.tracks[event.track < source.tracks.size() ? event.track : 0];
  tips.push_back({event.category, event.correlation, {track, time}});
}

Tips tips_of(const Source& source, FlowKind kind) {
  const auto kind_of = [&](StringId category) {
    const bool backward = category != 0 && category == source.forward_backward;
    return backward ? FlowKind::kForwardBackward : FlowKind::kOther;
  };
  Tips tips;
  for (const auto block : source.file.blocks()) {
    for (const EventRecord& event : block) {
      const auto tip = static_cast<EventKind>(event.kind);
      const bool flow = tip == EventKind::kFlowStart || tip == EventKind::kFlowEnd;
      if (!flow || (event.flags & kFlagHasCorrelation) == 0) continue;
      if (kind_of(event.category) != kind) continue;
      add_tip(source, event, tip == EventKind::kFlowStart ? tips.starts : tips.ends);
    }
  }
  const auto before = [](const Tip& a, const Tip& b) { return a.order() < b.order(); };
  std::sort(tips.starts.begin(), tips.starts.end(), before);
  std::sort(tips.ends.begin(), tips.ends.end(), before);
  return tips;
}

// What is open on a thread as time goes on. Each item comes and goes once, and what will not serve
// any more is stepped over once for all later times: near linear, however deep items nest.
class ThreadSweep {
 public:
  ThreadSweep(const Workspace& work, const Thread& thread, bool (*serves)(const Item&))
      : work_(work), next_(thread.first), end_(thread.first + thread.count), serves_(serves) {}

  // To be asked for times that never fall.
  std::uint32_t innermost_at(std::int64_t time_ns) {
    for (; next_ < end_ && item_at(next_).begin_ns <= time_ns; ++next_) open(work_.order[next_]);
    std::size_t found = around_.size();
    while (found > 0 && !is_answer(around_[found - 1].item, time_ns)) {
      found = around_[found - 1].below;
    }
    for (std::size_t at = around_.size(); at > found;) {
      at = std::exchange(around_[at - 1].below, found);
    }
    return found == 0 ? kNoIndex : around_[found - 1].item;
  }

 private:
  struct Open {
    std::uint32_t item = kNoIndex;
    std::size_t below = 0;  // how many lie below it, less those of them that will not serve
  };

  const Item& item_at(std::uint32_t at) const { return work_.items[work_.order[at]]; }

  // A parent on another thread (External ids, steps of workers) says nothing about this one.
  void open(std::uint32_t index) {
    const Item& item = work_.items[index];
    if ((item.marks & kDropped) != 0) return;
    while (!around_.empty() && around_.back().item != item.parent) around_.pop_back();
    around_.push_back({index, around_.size()});
  }

  bool is_answer(std::uint32_t index, std::int64_t time_ns) const {
    return work_.items[index].end_ns >= time_ns && serves_(work_.items[index]);
  }

  const Workspace& work_;
  std::uint32_t next_;  // in work.order: what has not begun
  std::uint32_t end_;
  bool (*serves_)(const Item&);
  std::vector<Open> around_;  // what began last and the items that it lies in, innermost last
};

}  // namespace

std::vector<Flow> flows_of(const Workspace& work, std::uint16_t source, FlowKind kind) {
  const Tips tips = tips_of(work.sources[source], kind);
  std::vector<Flow> flows;
  std::size_t next = 0;  // starts before it are not behind the end
  for (const Tip& end : tips.ends) {
    const auto is_before_end = [&](const Tip& start) {
      return std::tie(start.category, start.id, start.place.time_ns) <=
             std::tie(end.category, end.id, end.place.time_ns);
    };
    while (next < tips.starts.size() && is_before_end(tips.starts[next])) ++next;
    if (next == 0 || !tips.starts[next - 1].same_flow(end)) continue;
    flows.push_back({tips.starts[next - 1].place, end.place});
  }
  std::sort(flows.begin(), flows.end(), [](const Flow& a, const Flow& b) {
    return std::tie(a.to.track, a.to.time_ns, a.from.track, a.from.time_ns) <
           std::tie(b.to.track, b.to.time_ns, b.from.track, b.from.time_ns);
  });
  return flows;
}

std::vector<std::uint32_t> items_at_begins(const Workspace& work, const std::vector<Flow>& flows,
                                           bool (*serves)(const Item&)) {
  const auto place = [&](std::size_t flow) {
    return std::pair(work.thread_of_track[flows[flow].from.track], flows[flow].from.time_ns);
  };
  std::vector<std::size_t> by_begin(flows.size());
  std::iota(by_begin.begin(), by_begin.end(), std::size_t{0});
  std::sort(by_begin.begin(), by_begin.end(),
            [&](std::size_t a, std::size_t b) { return place(a) < place(b); });
  std::vector<std::uint32_t> items(flows.size(), kNoIndex);
  std::optional<ThreadSweep> sweep;
  std::uint32_t swept = kNoIndex;
  for (const std::size_t flow : by_begin) {
    const auto [thread, time_ns] = place(flow);
    if (thread != swept) sweep.emplace(work, work.threads[thread], serves);
    swept = thread;
    items[flow] = sweep->innermost_at(time_ns);
  }
  return items;
}

}  // namespace teller
