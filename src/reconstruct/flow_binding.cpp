#include "reconstruct/flow_binding.h"

#include <algorithm>
#include <map>
#include <utility>

#include "reconstruct/flows.h"
#include "reconstruct/item_order.h"

namespace teller {

namespace {

// The activities of a track or row, none of which had a parent at first.
class Lane {
 public:
  // To be called in tree order.
  void add(std::uint32_t activity) {
    before_.push_back(activities_.size());
    activities_.push_back(activity);
  }

  // Of those around the time the one that began last: what a stream does follows each other, but
  // for times that were rounded. Of those that began together (nodes of a graph, times in whole
  // microseconds) one without a parent. kNoIndex for none.
  std::uint32_t loose_at(const Workspace& work, std::int64_t time_ns) {
    const auto begun = std::upper_bound(
        activities_.begin(), activities_.end(), time_ns,
        [&](std::int64_t time, std::uint32_t item) { return time < work.items[item].begin_ns; });
    if (begun == activities_.begin()) return kNoIndex;
    const std::int64_t begin_ns = work.items[*(begun - 1)].begin_ns;
    // In tree order the longer of those that began together stand first.
    const auto behind = std::partition_point(activities_.begin(), begun, [&](std::uint32_t index) {
      return work.items[index].begin_ns < begin_ns || work.items[index].end_ns >= time_ns;
    });
    const std::size_t found =
        last_loose(work, static_cast<std::size_t>(behind - activities_.begin()));
    if (found == 0) return kNoIndex;
    const std::uint32_t activity = activities_[found - 1];
    return work.items[activity].begin_ns == begin_ns ? activity : kNoIndex;
  }

 private:
  // The last of the first `count` that has no parent, plus one; 0 for none. Those that have one are
  // stepped over once for all later searches.
  std::size_t last_loose(const Workspace& work, std::size_t count) {
    std::size_t found = count;
    while (found > 0 && work.items[activities_[found - 1]].parent != kNoIndex) {
      found = before_[found - 1];
    }
    for (std::size_t at = count; at > found;) at = std::exchange(before_[at - 1], found);
    return found;
  }

  std::vector<std::uint32_t> activities_;
  std::vector<std::size_t> before_;  // how many stand before it, less the last that have a parent
};

class FlowBinder {
 public:
  FlowBinder(Workspace& work, std::uint16_t source) : work_(work), source_(source) {}

  std::vector<std::uint32_t> bind(std::vector<std::uint32_t> activities) {
    const TreeOrder before{work_};
    std::sort(activities.begin(), activities.end(), before);
    for (const std::uint32_t index : activities) {
      const std::uint32_t track = work_.items[index].track;
      tracks_[track].add(index);
      const auto& tracks = work_.chains.tracks;
      rows_[{tracks.device[track], tracks.stream[track]}].add(index);
    }
    // What a forward operator is tied to is its backward operator, never an activity.
    const std::vector<Flow> flows = flows_of(work_, source_, FlowKind::kOther);
    const std::vector<std::uint32_t> launches = items_at_begins(work_, flows, may_launch);
    std::vector<std::uint32_t> bound;
    for (std::size_t i = 0; i < flows.size(); ++i) {
      if (launches[i] == kNoIndex || !is_host(flows[i].from)) continue;
      const std::uint32_t activity = activity_at(flows[i].to);
      if (activity == kNoIndex) continue;
      work_.items[activity].parent = launches[i];
      bound.push_back(activity);
    }
    return bound;
  }

 private:
  static bool may_launch(const Item& item) {
    return item.kind == ItemKind::kCall || item.kind == ItemKind::kRange;
  }

  bool is_host(const FlowPlace& place) const {
    return work_.threads[work_.thread_of_track[place.track]].host;
  }

  // The activity without a parent that an arrow points at.
  std::uint32_t activity_at(const FlowPlace& place) {
    if (!is_host(place)) return activity_in(tracks_, place.track, place.time_ns);
    // A flow names a row by the numbers of device and stream. If it stands in the file before all
    // activities of the row, the importer took those for a thread.
    const auto& tracks = work_.chains.tracks;
    const std::pair row(tracks.pid[place.track], tracks.tid[place.track]);
    return activity_in(rows_, row, place.time_ns);
  }

  template <typename Key>
  std::uint32_t activity_in(std::map<Key, Lane>& lanes, const Key& key, std::int64_t time_ns) {
    const auto lane = lanes.find(key);
    return lane == lanes.end() ? kNoIndex : lane->second.loose_at(work_, time_ns);
  }

  Workspace& work_;
  std::uint16_t source_;
  std::map<std::uint32_t, Lane> tracks_;
  // By the numbers of device and stream, which the tracks of several contexts share.
  std::map<std::pair<std::int64_t, std::int64_t>, Lane> rows_;
};

}  // namespace

std::vector<std::uint32_t> bind_by_flows(Workspace& work, std::uint16_t source,
                                         std::vector<std::uint32_t> activities) {
  return FlowBinder(work, source).bind(std::move(activities));
}

}  // namespace teller
