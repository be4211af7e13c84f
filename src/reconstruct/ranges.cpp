// Turns records into items: pairs ends with begins, and counts every record in exactly one bucket.
#include <algorithm>
#include <limits>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "base/huge_pages.h"
#include "reconstruct/open_ranges.h"
#include "reconstruct/passes.h"
#include "reconstruct/text_key.h"

namespace teller {

namespace {

// Threads with domains (stack_key()) whose pushes and pops stand in another order than their times.
using UnorderedStacks = std::unordered_set<std::uint64_t>;

class Collector {
 public:
  Collector(Workspace& work, std::uint16_t index)
      : work_(work), source_(work.sources[index]), index_(index) {}

  // Reads the records as they stand in the file. False, with work to be undone, if the pushes and
  // pops of a thread do not stand in the order of their times: see run_sorted().
  bool run() {
    for (const auto block : source_.file.blocks()) {
      for (const EventRecord& event : block) add(event);
    }
    if (!unordered_.empty()) return false;
    pair_starts();
    return true;
  }

  // The same, with the pushes and pops of the threads and domains in `unordered` sorted by time.
  // Those of others stay as they stand: their order says more than their times.
  void run_sorted(const UnorderedStacks& unordered) {
    std::vector<const EventRecord*> events;
    for (const auto block : source_.file.blocks()) {
      for (const EventRecord& event : block) {
        if (is_edge(event) && unordered.contains(stack_key(event))) {
          events.push_back(&event);
        } else {
          add(event);
        }
      }
    }
    // What a thread pops and pushes at one time: the pops come first, for ranges that follow each
    // other are more frequent than ranges without length.
    const auto key = [&](const EventRecord& event) {
      const bool push = event.kind == static_cast<std::uint16_t>(EventKind::kRangePush);
      return std::tuple(event.begin_ns, push, TextKey{&source_.file, push ? event.name : 0});
    };
    std::sort(events.begin(), events.end(),
              [&](const EventRecord* a, const EventRecord* b) { return key(*a) < key(*b); });
    for (const EventRecord* event : events) add(*event);
    pair_starts();
  }

  // After run(): the threads and domains whose pushes and pops are out of order.
  const UnorderedStacks& unordered() const { return unordered_; }

 private:
  // What a thread has pushed in one domain, innermost last.
  struct Stack {
    std::vector<std::uint32_t> items;
    std::int64_t last_ns = std::numeric_limits<std::int64_t>::min();  // of its latest push or pop
  };

  void add(const EventRecord& event) {
    ++source_.balance.records_in;
    const std::int64_t begin = run_time(event.begin_ns);
    see(begin);
    switch (static_cast<EventKind>(event.kind)) {
      case EventKind::kRange:
        return add_range(event, begin, run_end(event, begin), range_kind(event));
      case EventKind::kRangePush:
        return push(event, begin);
      case EventKind::kRangePop:
        return pop(event, begin);
      case EventKind::kRangeStart:
      case EventKind::kRangeEnd:
        starts_and_ends_.push_back(&event);
        return;
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
      case EventKind::kWindow:
        see(run_end(event, run_time(event.begin_ns)));
        [[fallthrough]];
      case EventKind::kOverhead:
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
    if (!in_limits(time_ns)) ++work_.counters.times_clamped;
    return clamped(time_ns);
  }

  bool in_limits(std::int64_t time_ns) const {
    std::int64_t shifted = 0;
    return !__builtin_add_overflow(time_ns, source_.shift_ns, &shifted) &&
           shifted >= -kTimeLimitNs && shifted <= kTimeLimitNs;
  }

  // A time of the file on the run's clock, or the end of what that clock can say.
  std::int64_t clamped(std::int64_t time_ns) const {
    if (in_limits(time_ns)) return time_ns + source_.shift_ns;
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
    return source_.tracks[event.track < source_.tracks.size() ? event.track : 0];
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
    if ((event.flags & kFlagHasExternal) != 0) ++source_.linked_ranges;
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

  static bool is_edge(const EventRecord& event) {
    return event.kind == static_cast<std::uint16_t>(EventKind::kRangePush) ||
           event.kind == static_cast<std::uint16_t>(EventKind::kRangePop);
  }

  std::uint64_t stack_key(const EventRecord& event) const {
    return std::uint64_t{work_.thread_of_track[track_of(event)]} << 32 | event.domain;
  }

  Stack& stack_at(const EventRecord& event, std::int64_t time_ns) {
    const std::uint64_t key = stack_key(event);
    if (last_stack_ == nullptr || key != last_key_) {
      last_stack_ = &stacks_[key];  // stays valid: unordered_map never moves its elements
      last_key_ = key;
    }
    if (time_ns < last_stack_->last_ns) unordered_.insert(key);
    last_stack_->last_ns = time_ns;
    return *last_stack_;
  }

  void push(const EventRecord& event, std::int64_t begin) {
    Stack& open = stack_at(event, begin);
    const std::size_t depth = open.items.size();
    open.items.push_back(next_item());
    add_range(event, begin, kOpenNs, ItemKind::kRange);
    work_.items.back().detail = static_cast<std::uint8_t>(std::min<std::size_t>(depth, 255));
  }

  void pop(const EventRecord& event, std::int64_t end) {
    Stack& open = stack_at(event, end);
    if (open.items.empty()) {
      ++work_.counters.pops_without_push;
      ++source_.balance.malformed;
      return;
    }
    close(open.items.back(), end);
    open.items.pop_back();
  }

  // Start/end ranges may end on another thread, whose records may stand before the start's: they
  // are paired in the order of time, starts first.
  void pair_starts() {
    const auto key = [&](const EventRecord& event) {
      const bool end = event.kind == static_cast<std::uint16_t>(EventKind::kRangeEnd);
      return std::tuple(event.begin_ns, end, TextKey{&source_.file, event.name},
                        source_.tracks[event.track < source_.tracks.size() ? event.track : 0]);
    };
    const auto before = [&](const EventRecord* a, const EventRecord* b) {
      return key(*a) < key(*b);
    };
    std::stable_sort(starts_and_ends_.begin(), starts_and_ends_.end(), before);
    for (const EventRecord* event : starts_and_ends_) {
      const std::int64_t time = clamped(event->begin_ns);
      if (event->kind == static_cast<std::uint16_t>(EventKind::kRangeEnd)) {
        end_range(*event, time);
      } else {
        started_.start(key_of(*event), next_item());
        add_range(*event, time, kOpenNs, ItemKind::kAsyncRange);
      }
    }
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
    ++source_.calls;
    add_item(event, begin, run_end(event, begin), ItemKind::kCall, Layer::kRuntime);
    if ((event.flags & kFlagFailed) != 0) work_.items.back().flags |= kNodeFailed;
    if (name_facts(work_, index_, event.name).collective) {
      work_.items.back().flags |= kNodeCollective;
    }
  }

  void add_device(const EventRecord& event, std::int64_t begin) {
    ++source_.balance.nodes;
    ++work_.counters.device_activities;
    ++source_.devices;
    add_item(event, begin, run_end(event, begin), ItemKind::kDevice, Layer::kKernel);
    Item& item = work_.items.back();
    if ((event.flags & kFlagGraph) != 0) item.flags |= kNodeGraph;
    if ((event.flags & kFlagFailed) != 0) item.flags |= kNodeFailed;
    if (name_facts(work_, index_, event.name).collective) item.flags |= kNodeCollective;
  }

  // A thread that ends a forward-backward flow runs the backward pass for the thread that began it.
  void note_flow_end(const EventRecord& event) {
    ++source_.flow_ends;
    if (event.category != 0 && event.category == source_.forward_backward) {
      thread_of(event).worker = true;
    }
  }

  Workspace& work_;
  Source& source_;
  std::uint16_t index_;
  std::unordered_map<std::uint64_t, Stack> stacks_;  // by thread and domain
  std::vector<const EventRecord*> starts_and_ends_;  // of start/end ranges
  OpenRanges started_;
  Stack* last_stack_ = nullptr;
  std::uint64_t last_key_ = 0;
  UnorderedStacks unordered_;
};

// Collects the records of one source in whatever order they stand.
void collect_source(Workspace& work, std::uint16_t index) {
  const std::size_t items = work.items.size();
  const ReconstructCounters counters = work.counters;
  Collector collector(work, index);
  if (collector.run()) return;
  work.items.resize(items);
  work.counters = counters;
  Source& source = work.sources[index];
  source.balance = {};
  source.calls = source.devices = source.linked_ranges = source.flow_ends = 0;
  Collector(work, index).run_sorted(collector.unordered());
}

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
    collect_source(work, static_cast<std::uint16_t>(index));
  }
  close_open_items(work);
}

}  // namespace teller
