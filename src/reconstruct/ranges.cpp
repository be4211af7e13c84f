// Turns records into items: pairs ends with begins, and counts every record in exactly one bucket.
#include <algorithm>
#include <unordered_map>

#include "base/huge_pages.h"
#include "reconstruct/passes.h"

namespace teller {

namespace {

// What a start/end range is known by. An id says nothing outside its process, domain and category.
struct RangeKey {
  std::int64_t pid = 0;
  std::uint64_t id = 0;
  StringId domain = 0;
  StringId category = 0;

  bool operator==(const RangeKey& other) const = default;
};

struct RangeKeyHash {
  std::size_t operator()(const RangeKey& key) const {
    std::uint64_t hash = 14695981039346656037u;
    for (const std::uint64_t part : {static_cast<std::uint64_t>(key.pid), key.id,
                                     std::uint64_t{key.domain} << 32 | key.category}) {
      hash = (hash ^ part) * 0x9e3779b97f4a7c15u;
      hash ^= hash >> 32;
    }
    return hash;
  }
};

// Start/end ranges that have not ended. An end closes the latest start of its id; NVTX's ends name
// no category, so one without closes the latest start of any.
class OpenRanges {
 public:
  void start(RangeKey key, std::uint32_t item) {
    open_[key].push_back(item);
    if (key.category == 0) return;
    key.category = 0;
    open_[key].push_back(item);
  }

  // The item that the end closes; kNoIndex for none. What another end has closed is passed by.
  template <typename IsOpen>
  std::uint32_t end(const RangeKey& key, IsOpen&& is_open) {
    const auto found = open_.find(key);
    if (found == open_.end()) return kNoIndex;
    std::uint32_t item = kNoIndex;
    std::vector<std::uint32_t>& starts = found->second;
    while (item == kNoIndex && !starts.empty()) {
      if (is_open(starts.back())) item = starts.back();
      starts.pop_back();
    }
    if (starts.empty()) open_.erase(found);
    return item;
  }

 private:
  std::unordered_map<RangeKey, std::vector<std::uint32_t>, RangeKeyHash> open_;
};

class Collector {
 public:
  Collector(Workspace& work, std::uint16_t index)
      : work_(work), source_(work.sources[index]), index_(index) {}

  void run() {
    for (const auto block : source_.file.blocks()) {
      for (const EventRecord& event : block) add(event);
    }
  }

 private:
  void add(const EventRecord& event) {
    ++source_.balance.records_in;
    const std::int64_t begin = run_time(event.begin_ns);
    see(begin);
    switch (static_cast<EventKind>(event.kind)) {
      case EventKind::kRange:
        return add_range(event, begin, run_end(event, begin), range_kind(event));
      case EventKind::kRangePush:
        stack(event).push_back(next_item());
        return add_range(event, begin, kOpenNs, ItemKind::kRange);
      case EventKind::kRangePop:
        return pop(event, begin);
      case EventKind::kRangeStart:
        started_.start(key_of(event), next_item());
        return add_range(event, begin, kOpenNs, ItemKind::kAsyncRange);
      case EventKind::kRangeEnd:
        return end_range(event, begin);
      case EventKind::kMark:
        return add_mark(event, begin);
      case EventKind::kStepRecord:
        ++source_.balance.links;
        return add_item(event, begin, begin, ItemKind::kRecord, Layer::kStep);
      case EventKind::kApiCall:
        return add_call(event, begin);
      case EventKind::kKernel:
      case EventKind::kMemcpy:
      case EventKind::kMemset:
        return add_device(event, begin);
      default:
        return count_other(event);
    }
  }

  // A complete range with an id of its own is a start/end range of which the source knew both ends.
  // In Kineto's traces an id says something else.
  ItemKind range_kind(const EventRecord& event) const {
    const bool free = (event.flags & kFlagHasCorrelation) != 0 && source_.dialect != "kineto";
    return free ? ItemKind::kAsyncRange : ItemKind::kRange;
  }

  // Records that are no nodes. Synchronisation records and projected ranges repeat what calls and
  // host ranges say; they are kept as links.
  void count_other(const EventRecord& event) {
    switch (static_cast<EventKind>(event.kind)) {
      case EventKind::kSync:
      case EventKind::kDeviceRange:
        see(run_end(event, run_time(event.begin_ns)));
        ++source_.balance.links;
        return;
      case EventKind::kFlowEnd:
        note_flow_end(event);
        [[fallthrough]];
      case EventKind::kFlowStart:
      case EventKind::kExternalId:
        ++source_.balance.links;
        return;
      case EventKind::kOverhead:
      case EventKind::kWindow:
        ++source_.balance.metadata;
        return;
      case EventKind::kCounter:
      case EventKind::kMemory:
        ++source_.balance.samples;
        return;
      default:
        ++source_.balance.unknown;
    }
  }

  std::int64_t run_time(std::int64_t time_ns) {
    std::int64_t shifted = 0;
    const bool overflow = __builtin_add_overflow(time_ns, source_.shift_ns, &shifted);
    if (!overflow && shifted >= -kTimeLimitNs && shifted <= kTimeLimitNs) return shifted;
    ++work_.counters.times_clamped;
    return time_ns < 0 ? -kTimeLimitNs : kTimeLimitNs;
  }

  // End of a complete record on the run's clock; kOpenNs stays.
  std::int64_t run_end(const EventRecord& event, std::int64_t begin) {
    if (event.end_ns == kOpenNs) return kOpenNs;
    const std::int64_t end = run_time(event.end_ns);
    if (end >= begin) {
      see(end);
      return end;
    }
    ++work_.counters.negative_durations;
    return begin;
  }

  void see(std::int64_t time_ns) {
    if (time_ns != kOpenNs) source_.last_ns = std::max(source_.last_ns, time_ns);
  }

  std::uint32_t next_item() const { return static_cast<std::uint32_t>(work_.items.size()); }
  std::uint32_t track_of(const EventRecord& event) const {
    const std::size_t count = source_.file.track_count();
    return source_.first_track + (event.track < count ? event.track : 0);
  }
  Thread& thread_of(const EventRecord& event) {
    return work_.threads[work_.thread_of_track[track_of(event)]];
  }

  void add_item(const EventRecord& event, std::int64_t begin, std::int64_t end, ItemKind kind,
                Layer layer) {
    Item item;
    item.event = &event;
    item.begin_ns = begin;
    item.end_ns = end;
    item.track = track_of(event);
    item.source = index_;
    item.kind = kind;
    item.layer = layer;
    if ((event.flags & kFlagRepaired) != 0) item.flags |= kNodeRepaired;
    if (event.end_ns < event.begin_ns) item.flags |= kNodeRepaired;
    work_.items.push_back(item);
  }

  void add_range(const EventRecord& event, std::int64_t begin, std::int64_t end, ItemKind kind) {
    const NameFacts& facts = name_facts(work_, index_, event.name);
    ++source_.balance.nodes;
    add_item(event, begin, end, kind, range_layer(event, facts));
    Item& item = work_.items.back();
    const bool python = (event.flags & kFlagPython) != 0;
    const bool nccl = event.domain != 0 && event.domain == source_.nccl_domain;
    if ((facts.collective && !python) || nccl) item.flags |= kNodeCollective;
    if (item.layer == Layer::kStep || (facts.annotation && !python)) item.marks |= kStepRange;
    if (item.layer == Layer::kBackEnd) thread_of(event).worker = true;
  }

  bool in_teller_domain(const EventRecord& event) const {
    return event.domain != 0 && event.domain == source_.teller_domain;
  }

  Layer range_layer(const EventRecord& event, const NameFacts& facts) const {
    if (in_teller_domain(event) && event.category != 0) {
      if (event.category == source_.step_category) return Layer::kStep;
      return event.category == source_.back_end_category ? Layer::kBackEnd : Layer::kFrontEnd;
    }
    if ((event.flags & kFlagPython) != 0) return Layer::kFrontEnd;
    if ((event.flags & kFlagOperator) != 0 || facts.operator_name) return Layer::kBackEnd;
    return event.domain != 0 && event.domain == source_.nccl_domain ? Layer::kBackEnd
                                                                    : Layer::kFrontEnd;
  }

  std::vector<std::uint32_t>& stack(const EventRecord& event) {
    const std::uint64_t thread = work_.thread_of_track[track_of(event)];
    const std::uint64_t key = thread << 32 | event.domain;
    if (last_stack_ == nullptr || key != last_key_) {
      last_stack_ = &stacks_[key];  // stays valid: unordered_map never moves its elements
      last_key_ = key;
    }
    return *last_stack_;
  }

  void pop(const EventRecord& event, std::int64_t end) {
    std::vector<std::uint32_t>& open = stack(event);
    if (open.empty()) {
      ++work_.counters.pops_without_push;
      ++source_.balance.malformed;
      return;
    }
    close(open.back(), end);
    open.pop_back();
  }

  void end_range(const EventRecord& event, std::int64_t end) {
    const std::uint32_t item = started_.end(
        key_of(event), [&](std::uint32_t at) { return work_.items[at].end_ns == kOpenNs; });
    if (item == kNoIndex) {
      ++work_.counters.ends_without_start;
      ++source_.balance.malformed;
      return;
    }
    close(item, end);
  }

  RangeKey key_of(const EventRecord& event) const {
    const std::int64_t pid = work_.chains.tracks.pid[track_of(event)];
    return {pid, event.correlation, event.domain, event.category};
  }

  void close(std::uint32_t index, std::int64_t end) {
    Item& item = work_.items[index];
    ++source_.balance.nodes;
    if (end < item.begin_ns) {
      ++work_.counters.negative_durations;
      item.flags |= kNodeRepaired;
    }
    item.end_ns = std::max(end, item.begin_ns);
  }

  void add_mark(const EventRecord& event, std::int64_t begin) {
    if (in_teller_domain(event) && event.category != 0 &&
        event.category == source_.record_category) {
      ++source_.balance.links;
      return add_item(event, begin, begin, ItemKind::kRecord, Layer::kStep);
    }
    const NameFacts& facts = name_facts(work_, index_, event.name);
    ++source_.balance.nodes;
    add_item(event, begin, begin, ItemKind::kMark, range_layer(event, facts));
    work_.items.back().flags |= kNodeMark;
  }

  void add_call(const EventRecord& event, std::int64_t begin) {
    ++source_.balance.nodes;
    ++work_.counters.calls;
    add_item(event, begin, run_end(event, begin), ItemKind::kCall, Layer::kRuntime);
    if ((event.flags & kFlagFailed) != 0) work_.items.back().flags |= kNodeFailed;
    if (name_facts(work_, index_, event.name).collective) {
      work_.items.back().flags |= kNodeCollective;
    }
  }

  void add_device(const EventRecord& event, std::int64_t begin) {
    ++source_.balance.nodes;
    ++work_.counters.device_activities;
    add_item(event, begin, run_end(event, begin), ItemKind::kDevice, Layer::kKernel);
    Item& item = work_.items.back();
    if ((event.flags & kFlagGraph) != 0) item.flags |= kNodeGraph;
    if ((event.flags & kFlagFailed) != 0) item.flags |= kNodeFailed;
    if (name_facts(work_, index_, event.name).collective) item.flags |= kNodeCollective;
  }

  // A thread that ends a forward-backward flow runs the backward pass for the thread that began it.
  void note_flow_end(const EventRecord& event) {
    if (event.category != 0 && event.category == source_.forward_backward) {
      thread_of(event).worker = true;
    }
  }

  Workspace& work_;
  Source& source_;
  std::uint16_t index_;
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> stacks_;  // by thread and domain
  OpenRanges started_;
  std::vector<std::uint32_t>* last_stack_ = nullptr;
  std::uint64_t last_key_ = 0;
};

// What never ended lasts until the last sign of life of its source.
void close_open_items(Workspace& work) {
  for (Item& item : work.items) {
    if (item.end_ns != kOpenNs) continue;
    item.end_ns = std::max(item.begin_ns, work.sources[item.source].last_ns);
    item.flags |= kNodeOpen;
    ++work.counters.open_items;
  }
}

}  // namespace

void collect_items(Workspace& work) {
  std::uint64_t events = 0;
  for (const Source& source : work.sources) events += source.file.event_count();
  reserve_huge(work.items, events);
  for (std::size_t index = 0; index < work.sources.size(); ++index) {
    Collector(work, static_cast<std::uint16_t>(index)).run();
  }
  close_open_items(work);
}

}  // namespace teller
