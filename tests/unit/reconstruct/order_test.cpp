// The order in which records stand in the files decides nothing: the same bytes come out.
#include <algorithm>
#include <chrono>
#include <fstream>
#include <functional>
#include <iterator>
#include <random>

#include "run_builder.h"

namespace teller {
namespace {

using Record = std::function<void(RunBuilder&)>;

struct Outcome {
  std::string chains;
  std::string report;
};

Outcome outcome_of(const std::vector<Record>& records) {
  RunBuilder run;
  for (const Record& record : records) record(run);
  RunFolder& folder = run.finish();
  const auto summary = reconstruct(folder, {});
  EXPECT_TRUE(summary.ok()) << (summary.ok() ? "" : summary.error().message);
  std::ifstream file(folder.file("chains.tcol"), std::ios::binary);
  return {std::string(std::istreambuf_iterator<char>(file), {}), summary ? summary->json : ""};
}

// Records of a made-up engine, none of which says where it stands in the file.
class Engine {
 public:
  explicit Engine(std::uint64_t seed) : random_(seed) {
    for (std::int64_t step = 0; step < 12; ++step) add_step(step, step * 10'000);
    add_worker();
    add_free_ranges();
  }

  std::vector<Record>& records() { return records_; }

 private:
  std::int64_t pick(std::int64_t below) {
    return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(below));
  }

  // Pushes and pops, a record, calls, kernels on two streams that begin together, twins.
  void add_step(std::int64_t step, std::int64_t at) {
    push("engine step", at, "STEP");
    const std::string json = R"({"v":1,"engine":"e","step":)" + std::to_string(step) +
                             R"(,"requests":[{"id":"r)" + std::to_string(step % 3) +
                             R"(","phase":"decode","scheduled":1,"computed":9}]})";
    records_.push_back([=](RunBuilder& run) { run.thread(1, 1).record(at + 5, json); });
    std::int64_t time = at + 10;
    for (int op = 0; op < 6; ++op) {
      const std::string name = "op" + std::to_string(pick(9));
      const std::int64_t length = 200 + pick(300);
      range(name + (pick(4) == 0 ? " request=r1" : ""), time, time + length);
      launch("kernel" + std::to_string(pick(5)), time + 10, time + 60);
      launch("kernel" + std::to_string(pick(5)), time + 70, time + 60);
      time += length + pick(20);
    }
    // One interval, and nothing but names that tells the two apart.
    for (const char* name : {"tie of a", "tie of b", "tie of c"}) range(name, time, time + 100);
    pop(at + 9'000);
  }

  void push(const std::string& name, std::int64_t at, const std::string& category) {
    records_.push_back(
        [=](RunBuilder& run) { run.thread(1, 1).push(name, at, "teller", category); });
  }
  void pop(std::int64_t at) {
    records_.push_back([=](RunBuilder& run) { run.thread(1, 1).pop(at, "teller"); });
  }
  void range(const std::string& name, std::int64_t begin, std::int64_t end) {
    records_.push_back(
        [=](RunBuilder& run) { run.thread(1, 1).range(name, begin, end, kFlagOperator); });
  }
  void launch(const std::string& kernel, std::int64_t at, std::int64_t device) {
    const std::uint64_t id = ++correlation_;
    const bool twice = pick(5) == 0;
    for (int copy = 0; copy < (twice ? 2 : 1); ++copy) {
      records_.push_back(
          [=](RunBuilder& run) { run.thread(1, 1).call("cudaLaunchKernel", at, at + 5, id); });
      records_.push_back(
          [=](RunBuilder& run) { run.thread(1, 1).kernel(kernel, device, device + 40, id); });
    }
  }

  // A thread that works for the steps; equal intervals, nested by their External ids.
  void add_worker() {
    for (std::uint64_t id = 1; id <= 30; ++id) {
      const std::int64_t at = static_cast<std::int64_t>(id) * 4'000;
      for (const std::uint64_t depth : {0u, 1u, 2u}) {
        records_.push_back([=](RunBuilder& run) {
          run.thread(1, 2).external_range("backward" + std::to_string(depth), at, at + 50,
                                          id * 10 + depth);
        });
      }
    }
  }

  // Start/end ranges that end on other threads, and what never ended.
  void add_free_ranges() {
    for (std::uint64_t id = 1; id <= 20; ++id) {
      const std::int64_t at = pick(100'000);
      records_.push_back([=](RunBuilder& run) {
        run.thread(1, 3);
        EventRecord event = run.make(EventKind::kRangeStart, "free", at, at);
        event.correlation = id % 4;
        run.add(event);
      });
      if (id % 5 == 0) continue;
      records_.push_back([=](RunBuilder& run) {
        run.thread(1, 4);
        EventRecord event = run.make(EventKind::kRangeEnd, "", at + 1'000, at + 1'000);
        event.correlation = id % 4;
        run.add(event);
      });
    }
  }

  std::mt19937_64 random_;
  std::vector<Record> records_;
  std::uint64_t correlation_ = 100;
};

TEST(Order, ShuffledRecordsGiveTheSameBytes) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    Engine engine(seed);
    const Outcome expected = outcome_of(engine.records());
    ASSERT_FALSE(expected.chains.empty());
    for (std::uint64_t round = 1; round <= 4; ++round) {
      std::vector<Record> shuffled = engine.records();
      std::shuffle(shuffled.begin(), shuffled.end(), std::mt19937_64(seed * 100 + round));
      const Outcome outcome = outcome_of(shuffled);
      EXPECT_TRUE(outcome.chains == expected.chains) << "seed " << seed << " round " << round;
      EXPECT_EQ(outcome.report, expected.report) << "seed " << seed << " round " << round;
    }
    std::vector<Record> backwards = engine.records();
    std::reverse(backwards.begin(), backwards.end());
    EXPECT_TRUE(outcome_of(backwards).chains == expected.chains) << "seed " << seed;
  }
}

TEST(Order, EndsThatStandBeforeTheirStartsInTheFileCloseThem) {
  RunBuilder run;
  EventRecord end = run.make(EventKind::kRangeEnd, "", 90, 90);
  end.correlation = 7;
  EventRecord start = run.make(EventKind::kRangeStart, "request", 10, 10);
  start.correlation = 7;
  const Rebuilt rebuilt(run.add(end).add(start));
  EXPECT_EQ(rebuilt.counter("ends_without_start"), 0u);
  EXPECT_EQ(rebuilt.chains.nodes.end_ns[rebuilt.node("request")], 90);
  EXPECT_FALSE(rebuilt.has("request", kNodeOpen));
}

TEST(Order, PopsThatStandBeforeTheirPushesInTheFileCloseThem) {
  RunBuilder run;
  run.pop(80).pop(50).push("inner", 20).push("outer", 10);
  const Rebuilt rebuilt(run);
  EXPECT_EQ(rebuilt.counter("pops_without_push"), 0u);
  EXPECT_EQ(rebuilt.parent("inner"), "outer");
  EXPECT_EQ(rebuilt.chains.nodes.end_ns[rebuilt.node("outer")], 80);
  EXPECT_EQ(rebuilt.records("records_in"), 4u);
  EXPECT_EQ(rebuilt.records("nodes"), 4u);
}

// Compares of 4 MiB each, 20 000 log 20 000 of them, would take a minute.
TEST(Order, EqualItemsWithOneLongNameTakeNoTime) {
  RunBuilder run;
  const std::string name(4 << 20, 'x');
  EventRecord range = run.make(EventKind::kRange, name, 1000, 2000);
  EventRecord start = run.make(EventKind::kRangeStart, name, 10, 10);
  const int count = 20'000;
  for (int i = 0; i < count; ++i) {
    start.correlation = static_cast<std::uint64_t>(i);
    run.add(range).add(start);
  }
  const auto begin = std::chrono::steady_clock::now();
  const Rebuilt rebuilt(run);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
  EXPECT_EQ(rebuilt.counter("ranges"), 2u * count);
}

// Sorted by time alone, the pop of "empty" would close "outer".
TEST(Order, OneThreadOutOfOrderSpoilsNoOther) {
  RunBuilder run;
  run.thread(1, 3).push("outer", 5).push("empty", 8).pop(8).push("inner", 20).pop(30).pop(50);
  run.push("elsewhere", 4, "a").push("empty too", 6, "a").pop(6, "a").pop(60, "a");
  run.thread(1, 4).pop(90).push("late", 80);
  const Rebuilt rebuilt(run);
  const auto end = [&](const char* name) {
    return rebuilt.chains.nodes.end_ns[rebuilt.node(name)];
  };
  EXPECT_EQ(end("outer"), 50);
  EXPECT_EQ(end("empty"), 8);
  EXPECT_EQ(rebuilt.parent("inner"), "outer");
  EXPECT_EQ(end("elsewhere"), 60);
  EXPECT_EQ(end("late"), 90);
  EXPECT_EQ(rebuilt.counter("pops_without_push"), 0u);
  EXPECT_EQ(rebuilt.counter("open_items"), 0u);
}

TEST(Order, OfEqualIntervalsTheOneNumberedFirstIsTheOuter) {
  for (const bool inner_first : {false, true}) {
    RunBuilder run;
    if (inner_first) run.external_range("aaa", 10, 20, 8).external_range("zzz", 10, 20, 7);
    if (!inner_first) run.external_range("zzz", 10, 20, 7).external_range("aaa", 10, 20, 8);
    EXPECT_EQ(Rebuilt(run).parent("aaa"), "zzz");
  }
}

TEST(Order, PythonFunctionsOfEqualIntervalsNestByTheirNumbers) {
  for (const bool inner_first : {false, true}) {
    RunBuilder run;
    EventRecord outer = run.make(EventKind::kRange, "z.py(1): outer", 10, 20);
    outer.flags = kFlagPython;
    outer.attrs = run.text(R"({"Python parent id":null,"Python id":9,"Ev Idx":1})");
    EventRecord inner = run.make(EventKind::kRange, "a.py(1): inner", 10, 20);
    inner.flags = kFlagPython;
    inner.attrs = run.text(R"({"Ev Idx":2,"Python id": 10,"Python parent id":9})");
    const Rebuilt rebuilt(inner_first ? run.add(inner).add(outer) : run.add(outer).add(inner));
    EXPECT_EQ(rebuilt.parent("a.py(1): inner"), "z.py(1): outer");
  }
}

TEST(Order, PushesOfEqualIntervalsNestAsTheyWerePushed) {
  RunBuilder run;
  run.push("zzz", 10).push("aaa", 10).pop(20).pop(20);
  EXPECT_EQ(Rebuilt(run).parent("aaa"), "zzz");
}

}  // namespace
}  // namespace teller
