// Hangs device activities under the calls that launched them: correlation id first, External id
// where there is no call, flows last.
#include <algorithm>
#include <limits>
#include <set>
#include <tuple>
#include <unordered_set>

#include "base/huge_pages.h"
#include "reconstruct/flow_binding.h"
#include "reconstruct/item_order.h"
#include "reconstruct/passes.h"
#include "reconstruct/text_key.h"

namespace teller {

namespace {

// A call or an activity by what ties them. Ids repeat between processes, so the process is part of
// the key; Kineto's device rows name no process, but one file holds one process's ids.
struct Key {
  std::int64_t pid = 0;
  std::uint64_t id = 0;
  std::int64_t begin_ns = 0;
  std::uint32_t item = 0;

  bool same_id(const Key& other) const { return pid == other.pid && id == other.id; }
};

// By process, id and time; then by content, so that the order of records decides nothing.
struct KeyOrder {
  const Workspace& work;
  bool operator()(const Key& a, const Key& b) const {
    const auto left = std::tie(a.pid, a.id, a.begin_ns);
    const auto right = std::tie(b.pid, b.id, b.begin_ns);
    return left != right ? left < right : TreeOrder{work}(a.item, b.item);
  }
};

void sort_keys(const Workspace& work, std::vector<Key>& keys) {
  const KeyOrder before{work};
  if (!std::is_sorted(keys.begin(), keys.end(), before)) {
    std::sort(keys.begin(), keys.end(), before);
  }
}

// Binds the items of one source.
class Binder {
 public:
  Binder(Workspace& work, std::uint16_t source)
      : work_(work), source_(source), by_process_(work.sources[source].dialect != "kineto") {
    const Source& from = work.sources[source];
    reserve_huge(calls_, from.calls);
    reserve_huge(activities_, from.devices);
    reserve_huge(operators_, from.linked_ranges);
  }

  void add_call(std::uint32_t index) {
    const Item& item = work_.items[index];
    if ((item.event->flags & kFlagHasCorrelation) != 0) {
      calls_.push_back(key(item, item.event->correlation, index));
    }
    const bool linked = (item.event->flags & kFlagHasExternal) != 0;
    if (linked && item.parent == kNoIndex) {
      homeless_.push_back(key(item, item.event->external, index));
    }
  }

  void add_device(std::uint32_t index) {
    const Item& item = work_.items[index];
    if ((item.event->flags & kFlagHasCorrelation) != 0) {
      activities_.push_back(key(item, item.event->correlation, index));
    } else {
      without_call(index, false);
    }
  }

  void add_range(std::uint32_t index) {
    const Item& item = work_.items[index];
    // Below a call a range can't adopt: the call might be adopted by what is below the adopted one.
    const bool usable = (item.event->flags & (kFlagHasExternal | kFlagGraph)) == kFlagHasExternal;
    if (usable && (item.marks & kInCall) == 0) {
      operators_.push_back(key(item, item.event->external, index));
    }
  }

  void bind() {
    sort_keys(work_, calls_);
    sort_keys(work_, activities_);
    bind_by_correlation();
    bind_by_external();
    if (work_.sources[source_].flow_ends > 0) bind_loose();
  }

 private:
  Key key(const Item& item, std::uint64_t id, std::uint32_t index) const {
    const std::int64_t pid = by_process_ ? work_.chains.tracks.pid[item.track] : 0;
    return {pid, id, item.begin_ns, index};
  }

  // Both lists are sorted by id, then time: one pass over them. An id that occurs again belongs to
  // the latest call that began before the activity did.
  void bind_by_correlation() {
    std::size_t call = 0;
    for (std::size_t at = 0; at < activities_.size(); ++at) {
      const Key& activity = activities_[at];
      const bool again = at > 0 && activities_[at - 1].same_id(activity) &&
                         activities_[at - 1].begin_ns == activity.begin_ns;
      if (!again) twins_.clear();
      if (is_duplicate(work_.items[activity.item])) {
        drop(work_.items[activity.item]);
        continue;
      }
      while (call < calls_.size() &&
             std::tie(calls_[call].pid, calls_[call].id) < std::tie(activity.pid, activity.id)) {
        ++call;
      }
      if (call == calls_.size() || !calls_[call].same_id(activity)) {
        without_call(activity.item, is_before_window(activity, call));
        continue;
      }
      while (call + 1 < calls_.size() && calls_[call + 1].same_id(activity) &&
             calls_[call + 1].begin_ns <= activity.begin_ns) {
        ++call;
      }
      adopt(calls_[call].item, activity.item);
    }
  }

  // Activities of a graph say so only in some dialects; their launch always does.
  void adopt(std::uint32_t call, std::uint32_t activity) {
    Item& item = work_.items[activity];
    item.parent = call;
    ++work_.counters.bound_by_correlation;
    mark_graph(call, item);
  }

  void mark_graph(std::uint32_t call, Item& activity) {
    if (!name_facts(work_, source_, work_.items[call].event->name).graph_launch) return;
    activity.flags |= kNodeGraph;
    if (graph_launches_.insert(call).second) ++work_.counters.graph_launches;
  }

  // Correlation ids rise: an id below the smallest of its process's calls was given before the
  // capture began. `call` is the first call with a larger (process, id).
  bool is_before_window(const Key& activity, std::size_t call) const {
    const bool smaller_seen = call > 0 && calls_[call - 1].pid == activity.pid;
    const bool process_seen = call < calls_.size() && calls_[call].pid == activity.pid;
    return process_seen && !smaller_seen;
  }

  void without_call(std::uint32_t index, bool before_window) {
    const Item& item = work_.items[index];
    if ((item.event->flags & kFlagHasExternal) != 0) {
      homeless_.push_back(key(item, item.event->external, index));
    }
    before_window ? ++work_.counters.before_window : ++work_.counters.without_call;
    if (before_window) early_.push_back(index);
    loose_.push_back(index);
  }

  // A graph's launch has many activities that begin at one time: any of them may come twice.
  bool is_duplicate(const Item& item) {
    const EventRecord& event = *item.event;
    const TextKey attrs{&work_.sources[source_].file, event.attrs};
    return !twins_.insert({item.end_ns, event.name, event.track, event.kind, attrs}).second;
  }

  void drop(Item& item) {
    item.marks |= kDropped;
    RecordBalance& balance = work_.sources[source_].balance;
    --balance.nodes;
    ++balance.duplicates;
    --work_.counters.device_activities;
  }

  // Calls outside every range of their thread, and activities without a call, hang under the
  // operator that carries the same External id.
  void bind_by_external() {
    std::sort(early_.begin(), early_.end());
    if (homeless_.empty()) return;
    sort_keys(work_, homeless_);
    sort_keys(work_, operators_);
    std::size_t at = 0;
    for (const Key& wanted : homeless_) {
      while (at < operators_.size() &&
             std::tie(operators_[at].pid, operators_[at].id) < std::tie(wanted.pid, wanted.id)) {
        ++at;
      }
      if (at < operators_.size() && operators_[at].same_id(wanted)) {
        hang(wanted.item, operators_[at].item);
      }
    }
  }

  void hang(std::uint32_t index, std::uint32_t under) {
    Item& item = work_.items[index];
    item.parent = under;
    if (item.kind == ItemKind::kCall) {
      ++work_.counters.calls_by_external_id;
      return;
    }
    ++work_.counters.bound_by_external_id;
    found_home(index);
  }

  // An activity that was counted as one without a call.
  void found_home(std::uint32_t index) {
    const bool early = std::binary_search(early_.begin(), early_.end(), index);
    early ? --work_.counters.before_window : --work_.counters.without_call;
  }

  void bind_loose() {
    std::erase_if(loose_, [&](auto index) { return work_.items[index].parent != kNoIndex; });
    if (loose_.empty()) return;
    std::vector<std::uint32_t> bound = bind_by_flows(work_, source_, std::move(loose_));
    std::sort(bound.begin(), bound.end(), [&](std::uint32_t a, std::uint32_t b) {
      const std::uint32_t left = work_.items[a].parent, right = work_.items[b].parent;
      return left != right ? left < right : a < b;
    });
    for (const std::uint32_t index : bound) {
      ++work_.counters.bound_by_flow;
      found_home(index);
      mark_graph(work_.items[index].parent, work_.items[index]);
    }
  }

  Workspace& work_;
  std::uint16_t source_;
  bool by_process_;
  std::vector<Key> calls_;
  std::vector<Key> activities_;
  std::vector<Key> operators_;
  std::vector<Key> homeless_;
  std::vector<std::uint32_t> early_;
  std::vector<std::uint32_t> loose_;  // activities without a call by id
  // Activities of one id and begin, as far as duplicates are equal.
  std::set<std::tuple<std::int64_t, StringId, TrackId, std::uint16_t, TextKey>> twins_;
  std::unordered_set<std::uint32_t> graph_launches_;  // those that own activities
};

void list_devices(Workspace& work) {
  reserve_huge(work.devices, work.counters.device_activities);
  for (std::uint32_t index = 0; index < work.items.size(); ++index) {
    const Item& item = work.items[index];
    if (item.kind == ItemKind::kDevice && (item.marks & kDropped) == 0) {
      work.devices.push_back(index);
    }
  }
}

}  // namespace

void bind_items(Workspace& work) {
  std::uint32_t index = 0;
  const auto size = static_cast<std::uint32_t>(work.items.size());
  for (std::uint16_t source = 0; source < work.sources.size(); ++source) {
    Binder binder(work, source);
    for (; index < size && work.items[index].source == source; ++index) {
      const Item& item = work.items[index];
      if ((item.marks & kDropped) != 0) continue;
      if (item.kind == ItemKind::kCall) binder.add_call(index);
      if (item.kind == ItemKind::kDevice) binder.add_device(index);
      if (item.kind == ItemKind::kRange) binder.add_range(index);
    }
    binder.bind();
  }
  list_devices(work);
}

}  // namespace teller
