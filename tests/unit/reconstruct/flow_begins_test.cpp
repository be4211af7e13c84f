// The items at which arrows begin: the innermost ones, found in near linear time whatever the shape
// of the input. No test asserts a time: at these sizes one step per pair of item and arrow takes
// hours.
#include <random>

#include "reconstruct/flows.h"
#include "run_builder.h"

namespace teller {
namespace {

constexpr std::uint32_t kMany = 2'000'000;
constexpr std::int64_t kEnd = 10 * static_cast<std::int64_t>(kMany);

bool any(const Item& /*item*/) {
  return true;
}
bool is_call(const Item& item) {
  return item.kind == ItemKind::kCall;
}

// Items of one thread; each is added behind those that began before it.
class OneThread {
 public:
  OneThread() {
    work_.threads.resize(1);
    work_.thread_of_track.push_back(0);
  }

  std::uint32_t add(std::int64_t begin, std::int64_t end, std::uint32_t parent,
                    ItemKind kind = ItemKind::kRange, std::uint8_t marks = 0) {
    Item item;
    item.begin_ns = begin;
    item.end_ns = end;
    item.parent = parent;
    item.kind = kind;
    item.marks = marks;
    work_.items.push_back(item);
    const auto index = static_cast<std::uint32_t>(work_.items.size() - 1);
    work_.order.push_back(index);
    ++work_.threads[0].count;
    return index;
  }
  // As many as there are items.
  std::vector<std::uint32_t> at_many(std::int64_t time, bool (*serves)(const Item&)) const {
    return items_at_begins(work_, std::vector<Flow>(kMany, Flow{{0, time}, {}}), serves);
  }
  const Workspace& work() const { return work_; }

 private:
  Workspace work_;
};

TEST(FlowBegins, ManyBehindWhatNestsDeep) {
  OneThread thread;
  std::uint32_t last = thread.add(0, kEnd, kNoIndex);
  for (std::uint32_t i = 1; i < kMany; ++i) last = thread.add(i, kEnd / 2 - i, last);
  const std::vector<std::uint32_t> found = thread.at_many(kEnd / 2, any);
  EXPECT_EQ(found, std::vector<std::uint32_t>(kMany, 0));
}

TEST(FlowBegins, ManyBehindDuplicates) {
  OneThread thread;
  thread.add(5, 10, kNoIndex, ItemKind::kCall);
  for (std::uint32_t i = 1; i < kMany; ++i) {
    thread.add(5, 10, kNoIndex, ItemKind::kCall, kDropped);
  }
  EXPECT_EQ(thread.at_many(7, is_call), std::vector<std::uint32_t>(kMany, 0));
  EXPECT_EQ(thread.at_many(11, is_call), std::vector<std::uint32_t>(kMany, kNoIndex));
}

TEST(FlowBegins, ManyInsideWhatDoesNotServe) {
  OneThread thread;
  std::uint32_t last = thread.add(0, kEnd, kNoIndex, ItemKind::kCall);
  for (std::uint32_t i = 1; i < kMany; ++i) {
    last = thread.add(i, kEnd - i, last, ItemKind::kAsyncRange);
  }
  EXPECT_EQ(thread.at_many(kEnd / 2, is_call), std::vector<std::uint32_t>(kMany, 0));
}

// By definition, one by one: up from what began last.
std::uint32_t climb(const Workspace& work, std::int64_t time, bool (*serves)(const Item&)) {
  std::uint32_t index = kNoIndex;
  for (const std::uint32_t item : work.order) {
    const bool dropped = (work.items[item].marks & kDropped) != 0;
    if (work.items[item].begin_ns <= time && !dropped) index = item;
  }
  while (index != kNoIndex && (work.items[index].end_ns < time || !serves(work.items[index]))) {
    index = work.items[index].parent;
  }
  return index;
}

TEST(FlowBegins, AreThoseOfAClimbFromWhatBeganLast) {
  std::mt19937 random(3);
  const auto pick = [&](int below) { return static_cast<std::int64_t>(random() % below); };
  for (int round = 0; round < 300; ++round) {
    OneThread thread;
    std::vector<std::uint32_t> around;
    std::int64_t time = 0;
    for (int i = 0; i < 40; ++i) {
      time += pick(3);
      const auto end_of = [&](std::uint32_t item) { return thread.work().items[item].end_ns; };
      while (!around.empty() && end_of(around.back()) <= time) around.pop_back();
      const std::uint32_t parent = around.empty() ? kNoIndex : around.back();
      const bool loose = pick(6) == 0;  // outlasts what is around it and holds nothing
      const std::int64_t wanted = time + pick(40);
      const std::int64_t end =
          loose || parent == kNoIndex ? wanted : std::min(wanted, end_of(parent));
      const ItemKind kind = pick(2) == 0 ? ItemKind::kCall : ItemKind::kAsyncRange;
      const std::uint8_t marks = pick(5) == 0 ? kDropped : 0;
      const std::uint32_t index = thread.add(time, end, parent, kind, marks);
      if (!loose && marks == 0) around.push_back(index);
    }
    std::vector<Flow> flows;
    for (int i = 0; i < 60; ++i) flows.push_back({{0, pick(80) - 2}, {}});
    for (const auto serves : {any, is_call}) {
      const std::vector<std::uint32_t> found = items_at_begins(thread.work(), flows, serves);
      for (std::size_t i = 0; i < flows.size(); ++i) {
        EXPECT_EQ(found[i], climb(thread.work(), flows[i].from.time_ns, serves));
      }
    }
  }
}

constexpr std::int64_t kRecords = 1'000'000;

// Arrows from behind deep nesting to kernels that all begin at once.
TEST(FlowBegins, ManyArrowsToKernelsThatBeganTogether) {
  RunBuilder run;
  run.source(R"({"dialect":"kineto"})").range("outer", 0, 5 * kRecords);
  for (std::int64_t i = 1; i < kRecords; ++i) run.range("deep", i, 3 * kRecords - i);
  EventRecord kernel = run.make(EventKind::kKernel, "gemm", 4 * kRecords, 5 * kRecords);
  TrackRecord stream;
  stream.kind = static_cast<std::uint32_t>(TrackKind::kDeviceStream);
  stream.device = 0;
  stream.stream = 7;
  kernel.track = run.track(stream);
  for (std::int64_t i = 0; i < kRecords; ++i) run.add(kernel);
  EventRecord start = run.make(EventKind::kFlowStart, "ac2g", 3 * kRecords, 3 * kRecords);
  EventRecord end = run.make(EventKind::kFlowEnd, "ac2g", 4 * kRecords, 4 * kRecords);
  start.flags = end.flags = kFlagHasCorrelation;
  start.category = end.category = run.text("ac2g");
  end.track = kernel.track;
  run.add(start);
  for (std::int64_t i = 0; i < kRecords; ++i) run.add(end);
  const Rebuilt rebuilt(run);
  EXPECT_EQ(rebuilt.counter("bound_by_flow"), static_cast<std::uint64_t>(kRecords));
  EXPECT_EQ(rebuilt.parent("gemm"), "outer");
}

// Arrows from behind deep nesting to operators that take no time, all at once.
TEST(FlowBegins, ManyBackwardOperatorsAtOneTime) {
  RunBuilder run;
  run.source(R"({"dialect":"kineto"})").range("ProfilerStep#1", 0, 5 * kRecords);
  for (std::int64_t i = 1; i < kRecords; ++i) run.range("deep", i, 3 * kRecords - i);
  EventRecord start = run.make(EventKind::kFlowStart, "fwdbwd", 3 * kRecords, 3 * kRecords);
  start.flags = kFlagHasCorrelation;
  start.category = run.text("fwdbwd");
  run.add(start).thread(1, 2);
  const std::int64_t late = 6 * kRecords;
  const EventRecord backward = run.make(EventKind::kRange, "backward", late, late);
  EventRecord end = run.make(EventKind::kFlowEnd, "fwdbwd", late, late);
  end.flags = kFlagHasCorrelation;
  end.category = start.category;
  for (std::int64_t i = 0; i < kRecords; ++i) run.add(backward).add(end);
  const Rebuilt rebuilt(run);
  EXPECT_EQ(rebuilt.counter("worker_ranges_by_flow"), static_cast<std::uint64_t>(kRecords));
  EXPECT_EQ(rebuilt.parent("backward"), "ProfilerStep#1");
}

}  // namespace
}  // namespace teller
