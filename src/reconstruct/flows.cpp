#include "reconstruct/flows.h"

#include <algorithm>
#include <tuple>

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

Tips tips_of(const Source& source, StringId category) {
  Tips tips;
  for (const auto block : source.file.blocks()) {
    for (const EventRecord& event : block) {
      const auto kind = static_cast<EventKind>(event.kind);
      const bool flow = kind == EventKind::kFlowStart || kind == EventKind::kFlowEnd;
      if (!flow || (event.flags & kFlagHasCorrelation) == 0) continue;
      if (category != 0 && event.category != category) continue;
      add_tip(source, event, kind == EventKind::kFlowStart ? tips.starts : tips.ends);
    }
  }
  const auto before = [](const Tip& a, const Tip& b) { return a.order() < b.order(); };
  std::sort(tips.starts.begin(), tips.starts.end(), before);
  std::sort(tips.ends.begin(), tips.ends.end(), before);
  return tips;
}

}  // namespace

std::vector<Flow> flows_of(const Workspace& work, std::uint16_t source, StringId category) {
  const Tips tips = tips_of(work.sources[source], category);
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

std::uint32_t innermost_at(const Workspace& work, const Thread& thread, std::int64_t time_ns) {
  const auto begin = work.order.begin() + thread.first;
  const auto behind = std::upper_bound(
      begin, begin + thread.count, time_ns,
      [&](std::int64_t time, std::uint32_t item) { return time < work.items[item].begin_ns; });
  if (behind == begin) return kNoIndex;
  auto last = behind - 1;
  while (last != begin && (work.items[*last].marks & kDropped) != 0) --last;
  std::uint32_t index = *last;
  while (index != kNoIndex && work.items[index].end_ns < time_ns) index = work.items[index].parent;
  return index;
}

}  // namespace teller
