// Makes one tree of all ranges, calls and marks of a thread, by containment.
#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "base/huge_pages.h"
#include "reconstruct/item_order.h"
#include "reconstruct/open_items.h"
#include "reconstruct/passes.h"
#include "reconstruct/text_key.h"

namespace teller {

namespace {

// Times in whole microseconds, or in doubles of them, are off by up to so much.
constexpr std::int64_t kRoundingNs = 1'000;

// Sorts the host items by thread: threads' `first` and `count`, and work.order.
void group_by_thread(Workspace& work) {
  const auto on_thread = [&](const Item& item) { return item.kind != ItemKind::kDevice; };
  for (const Item& item : work.items) {
    if (on_thread(item)) ++work.threads[work.thread_of_track[item.track]].count;
  }
  std::uint32_t total = 0;
  for (Thread& thread : work.threads) {
    thread.first = total;
    total += thread.count;
    thread.count = 0;
  }
  reserve_huge(work.order, total);
  work.order.resize(total);
  for (std::uint32_t index = 0; index < work.items.size(); ++index) {
    const Item& item = work.items[index];
    if (!on_thread(item)) continue;
    Thread& thread = work.threads[work.thread_of_track[item.track]];
    work.order[thread.first + thread.count++] = index;
  }
}

// Walks the items of one thread in tree order with the stack of what is around them.
class Nester {
 public:
  explicit Nester(Workspace& work) : work_(work), items_(work.items), around_(work.items) {}

  void nest(const Thread& thread) {
    const auto begin = work_.order.begin() + thread.first;
    const auto end = begin + thread.count;
    const TreeOrder before{work_};
    if (!std::is_sorted(begin, end, before)) std::sort(begin, end, before);
    around_.clear();
    calls_.clear();
    for (auto at = begin; at != end; ++at) place(*at);
  }

 private:
  void place(std::uint32_t index) {
    Item& item = items_[index];
    const bool instant = item.kind == ItemKind::kMark || item.kind == ItemKind::kRecord;
    if (is_duplicate(item)) {
      drop(item);
      return;
    }
    leave_ended(item, instant);
    // What may outlast its surroundings closes them for itself only: it stays a leaf, unclipped.
    const bool loose = item.kind == ItemKind::kAsyncRange || (item.flags & kNodeOpen) != 0;
    if (!loose) {
      leave_overlapped(item);
      cut_frames_around(item);
      leave_earlier_siblings(item);
    }
    bool leaf = instant;
    if (!around_.empty()) {
      const Item& parent = items_[around_.back()];
      item.parent = around_.back();
      const bool call = parent.kind == ItemKind::kCall;
      item.marks |= parent.marks & (kInCall | kInRange);
      item.marks |= call ? kInCall : kInRange;
      if (item.end_ns > parent.end_ns) {
        leaf = leaf || loose;
        outlasts(item, parent, loose);
      }
    }
    if (!leaf) around_.push_back(index, sort_of(item));
  }

  void leave_ended(const Item& item, bool instant) {
    while (!around_.empty() && !holds(items_[around_.back()], item, instant)) around_.pop_back();
  }

  // An instant at the very end of a range, and what took no time there, still belong to it.
  // Of two that took no time at all the higher holds the lower; equals follow each other.
  static bool holds(const Item& around, const Item& item, bool instant) {
    if (around.end_ns != item.begin_ns) return around.end_ns > item.begin_ns;
    if (instant) return true;
    if (item.end_ns != item.begin_ns) return false;
    return around.begin_ns < around.end_ns || tree_rank(around) < tree_rank(item);
  }

  // A range that need not nest can't hold what outlasts it.
  void leave_overlapped(const Item& item) {
    while (!around_.empty()) {
      const Item& top = items_[around_.back()];
      if (top.kind != ItemKind::kAsyncRange || item.end_ns <= top.end_ns) return;
      around_.pop_back();
    }
  }

  // An annotation begins inside the Python functions that open it (`__enter__`) and ends inside
  // those that close it, so that it nests in none of them. It is what the program asked for: the
  // frames end where it begins, and it stands beside them. Calls that it makes keep it inside.
  void cut_frames_around(const Item& item) {
    if (!is_annotation(item)) return;
    while (!around_.empty()) {
      Item& top = items_[around_.back()];
      if (!is_frame(top) || top.end_ns >= item.end_ns) return;
      cut_frame(top, item.begin_ns);
      around_.pop_back();
    }
  }

  void cut_frame(Item& frame, std::int64_t end_ns) {
    frame.end_ns = end_ns;
    if ((frame.flags & kNodeRepaired) == 0) ++work_.counters.frames_cut_by_annotations;
    frame.flags |= kNodeRepaired;
  }

  // Rounded times let what follows a range begin shortly before that ends. The one before, and what
  // is still open in it, end where the next begins: as a child the next would keep nothing of its
  // length, and a step would be lost. What lies in a range by more than half is its child.
  void leave_earlier_siblings(const Item& item) {
    if (item.end_ns == item.begin_ns) return;
    for (const std::size_t outermost = outermost_sibling(item); around_.size() > outermost;) {
      Item& inner = items_[around_.back()];
      const bool sibling = sort_of(inner) == sort_of(item) && follows(inner, item);
      clip(inner, item.begin_ns);
      around_.pop_back();
      if (sibling) cut_frames_around(item);
    }
  }

  // Where the outermost stands that the item follows; how many there are around it if it follows
  // none. Of those that end together the outermost is the longest: if not that one, none is.
  std::size_t outermost_sibling(const Item& item) const {
    std::size_t found = around_.size();
    for (std::size_t run = around_.innermost_run(sort_of(item)); run != OpenItems::kNone;
         run = around_.next_run(run)) {
      const Item& earlier = items_[around_.at(run)];
      if (earlier.end_ns >= item.end_ns || earlier.end_ns - item.begin_ns > kRoundingNs) break;
      if (follows(earlier, item)) found = run;
    }
    return found;
  }

  // Only what is of one sort: an annotation keeps its length, whatever operators do at its end.
  static std::uint8_t sort_of(const Item& item) {
    const int sort = 3 * static_cast<int>(item.kind) + (is_frame(item) ? 1 : 0);
    return static_cast<std::uint8_t>(sort + (is_annotation(item) ? 2 : 0));
  }

  static bool follows(const Item& earlier, const Item& item) {
    const std::int64_t overlap = earlier.end_ns - item.begin_ns;
    const std::int64_t shorter =
        std::min(earlier.end_ns - earlier.begin_ns, item.end_ns - item.begin_ns);
    return overlap > 0 && overlap <= kRoundingNs && overlap < shorter - overlap;
  }

  void clip(Item& item, std::int64_t end_ns) {
    item.end_ns = end_ns;
    item.flags |= kNodeRepaired;
    ++work_.counters.overlaps_clipped;
  }

  static bool is_frame(const Item& item) { return (item.event->flags & kFlagPython) != 0; }

  // A range that the program asked for: not an operator, which runs inside what called it.
  static bool is_annotation(const Item& item) {
    return item.kind == ItemKind::kRange && !is_frame(item) && item.layer != Layer::kBackEnd;
  }

  void outlasts(Item& item, const Item& parent, bool loose) {
    if (loose) {
      ++work_.counters.async_ranges_loose;
      return;
    }
    // So does what a function called that is cut itself.
    const bool cut = !is_frame(parent) || (parent.flags & kNodeRepaired) != 0;
    if (is_frame(item) && parent.kind == ItemKind::kRange && cut) {
      return cut_frame(item, parent.end_ns);
    }
    clip(item, parent.end_ns);
  }

  // The same call twice: a thread can't make two calls of one correlation id in the same interval.
  // Others of the same interval may stand between the two.
  bool is_duplicate(const Item& item) {
    const EventRecord& event = *item.event;
    if (item.kind != ItemKind::kCall || (event.flags & kFlagHasCorrelation) == 0) return false;
    const std::pair interval{item.begin_ns, item.end_ns};
    if (interval != interval_) calls_.clear();
    interval_ = interval;
    return !calls_
                .insert({event.correlation, event.external, event.value, event.name, event.flags,
                         TextKey{&work_.sources[item.source].file, event.attrs}})
                .second;
  }

  void drop(Item& item) {
    item.marks |= kDropped;
    RecordBalance& balance = work_.sources[item.source].balance;
    --balance.nodes;
    ++balance.duplicates;
    --work_.counters.calls;
  }

  Workspace& work_;
  std::vector<Item>& items_;
  OpenItems around_;  // innermost last
  // The calls of one interval, as far as duplicates are equal.
  std::set<std::tuple<std::uint64_t, std::uint64_t, std::int64_t, StringId, std::uint16_t, TextKey>>
      calls_;
  std::pair<std::int64_t, std::int64_t> interval_;
};

}  // namespace

void nest_items(Workspace& work) {
  group_by_thread(work);
  Nester nester(work);
  for (const Thread& thread : work.threads) nester.nest(thread);
}

}  // namespace teller
