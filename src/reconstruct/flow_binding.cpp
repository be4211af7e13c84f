#include "reconstruct/flow_binding.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "reconstruct/flows.h"
#include "reconstruct/item_order.h"

namespace teller {

namespace {

class FlowBinder {
 public:
  FlowBinder(Workspace& work, std::uint16_t source) : work_(work), source_(source) {}

  std::vector<std::uint32_t> bind(std::vector<std::uint32_t> activities) {
    const TreeOrder before{work_};
    std::sort(activities.begin(), activities.end(), before);
    for (const std::uint32_t index : activities) {
      const std::uint32_t track = work_.items[index].track;
      by_track_[track].push_back(index);
      const auto& tracks = work_.chains.tracks;
      rows_[{tracks.device[track], tracks.stream[track]}].insert(track);
    }
    std::vector<std::uint32_t> bound;
    for (const Flow& flow : flows_of(work_, source_, 0)) {
      const std::uint32_t activity = activity_at(flow.to);
      if (activity == kNoIndex) continue;
      const std::uint32_t launch = launch_at(flow.from);
      if (launch == kNoIndex) continue;
      work_.items[activity].parent = launch;
      bound.push_back(activity);
    }
    return bound;
  }

 private:
  // The activity without a parent that an arrow points at.
  std::uint32_t activity_at(const FlowPlace& place) const {
    const auto& tracks = work_.chains.tracks;
    if (tracks.kind[place.track] != static_cast<std::uint32_t>(TrackKind::kHostThread)) {
      return activity_on(place.track, place.time_ns);
    }
    // A flow names a row by the numbers of device and stream. If it stands in the file before all
    // activities of the row, the importer took those for a thread.
    const auto row = rows_.find({tracks.pid[place.track], tracks.tid[place.track]});
    if (row == rows_.end()) return kNoIndex;
    for (const std::uint32_t track : row->second) {
      const std::uint32_t found = activity_on(track, place.time_ns);
      if (found != kNoIndex) return found;
    }
    return kNoIndex;
  }

  // Of those around the time the one that began last: what a stream does follows each other, but
  // for times that were rounded.
  std::uint32_t activity_on(std::uint32_t track, std::int64_t time_ns) const {
    const auto list = by_track_.find(track);
    if (list == by_track_.end()) return kNoIndex;
    const auto behind = std::upper_bound(
        list->second.begin(), list->second.end(), time_ns,
        [&](std::int64_t time, std::uint32_t item) { return time < work_.items[item].begin_ns; });
    if (behind == list->second.begin()) return kNoIndex;
    const Item& item = work_.items[*(behind - 1)];
    return item.parent == kNoIndex && item.end_ns >= time_ns ? *(behind - 1) : kNoIndex;
  }

  std::uint32_t launch_at(const FlowPlace& place) const {
    const Thread& thread = work_.threads[work_.thread_of_track[place.track]];
    if (!thread.host) return kNoIndex;
    std::uint32_t index = innermost_at(work_, thread, place.time_ns);
    while (index != kNoIndex && !may_launch(work_.items[index])) index = work_.items[index].parent;
    return index;
  }

  static bool may_launch(const Item& item) {
    return item.kind == ItemKind::kCall || item.kind == ItemKind::kRange;
  }

  Workspace& work_;
  std::uint16_t source_;
  std::map<std::uint32_t, std::vector<std::uint32_t>> by_track_;  // activities in tree order
  // Tracks by the numbers of device and stream; contexts share them.
  std::map<std::pair<std::int64_t, std::int64_t>, std::set<std::uint32_t>> rows_;
};

}  // namespace

std::vector<std::uint32_t> bind_by_flows(Workspace& work, std::uint16_t source,
                                         std::vector<std::uint32_t> activities) {
  return FlowBinder(work, source).bind(std::move(activities));
}

}  // namespace teller
