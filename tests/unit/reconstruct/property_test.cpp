// What must hold for any events: a known tree comes back exactly, and the order in which records
// were read changes nothing.
#include <algorithm>
#include <map>
#include <random>

#include "run_builder.h"

namespace teller {
namespace {

// A range of a random tree. Every one has a name of its own.
struct Planted {
  std::string name;
  std::string parent;  // "" for a root
  std::int64_t thread = 0;
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
};

class Forest {
 public:
  explicit Forest(std::uint64_t seed) : random_(seed) {
    for (std::int64_t thread = 1; thread <= 3; ++thread) {
      std::int64_t at = pick(50);
      while (at < 100'000) {
        const std::int64_t end = at + 40 + pick(20'000);
        grow("", thread, at, end, 0);
        at = end + 1 + pick(3'000);
      }
    }
  }

  const std::vector<Planted>& ranges() const { return ranges_; }
  std::int64_t pick(std::int64_t below) {
    return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(below));
  }

 private:
  // Children lie strictly inside and apart from each other, so that there is one tree only.
  void grow(const std::string& parent, std::int64_t thread, std::int64_t begin, std::int64_t end,
            int depth) {
    const std::string name = "n" + std::to_string(ranges_.size()) + "x";
    ranges_.push_back({name, parent, thread, begin, end});
    std::int64_t at = begin + 1 + pick(8);
    while (depth < 12 && at + 3 < end && pick(4) != 0) {
      const std::int64_t length = 1 + pick(end - 1 - at);
      grow(name, thread, at, at + length, depth + 1);
      at += length + 1 + pick(8);
    }
  }

  std::mt19937_64 random_;
  std::vector<Planted> ranges_;
};

void expect_tree(const Forest& forest, const Rebuilt& rebuilt) {
  std::map<std::string, std::uint32_t> nodes;
  for (std::uint32_t node = 0; node < rebuilt.chains.node_count(); ++node) {
    nodes[rebuilt.name(node)] = node;
  }
  for (const Planted& range : forest.ranges()) {
    ASSERT_TRUE(nodes.contains(range.name));
    const std::uint32_t node = nodes[range.name];
    EXPECT_EQ(rebuilt.chains.nodes.begin_ns[node], range.begin_ns);
    EXPECT_EQ(rebuilt.chains.nodes.end_ns[node], range.end_ns);
    const std::string parent = rebuilt.name(rebuilt.chains.nodes.parent[node]);
    EXPECT_EQ(range.parent.empty() ? "outside pid 1" : range.parent, parent) << range.name;
  }
  EXPECT_EQ(rebuilt.chains.node_count(), forest.ranges().size() + 1);
  EXPECT_EQ(rebuilt.counter("overlaps_clipped"), 0u);
}

TEST(Property, AKnownTreeComesBackFromCompleteRanges) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Forest forest(seed);
    std::vector<Planted> order = forest.ranges();
    std::shuffle(order.begin(), order.end(), std::mt19937_64(seed));
    RunBuilder run;
    for (const Planted& range : order) {
      run.thread(1, range.thread).range(range.name, range.begin_ns, range.end_ns);
    }
    expect_tree(forest, Rebuilt(run));
  }
}

// Begins and ends, in the order of their times, as a recorder writes them.
TEST(Property, AKnownTreeComesBackFromPushesAndPops) {
  for (std::uint64_t seed = 21; seed <= 40; ++seed) {
    Forest forest(seed);
    struct Edge {
      std::int64_t time = 0;
      const Planted* range = nullptr;
      bool push = false;
    };
    std::vector<Edge> edges;
    for (const Planted& range : forest.ranges()) {
      edges.push_back({range.begin_ns, &range, true});
      edges.push_back({range.end_ns, &range, false});
    }
    std::stable_sort(edges.begin(), edges.end(),
                     [](const Edge& a, const Edge& b) { return a.time < b.time; });
    RunBuilder run;
    for (const Edge& edge : edges) {
      run.thread(1, edge.range->thread);
      edge.push ? run.push(edge.range->name, edge.time) : run.pop(edge.time);
    }
    expect_tree(forest, Rebuilt(run));
  }
}

// Calls in the ranges, each with a kernel that outlasts it: they come back under the innermost one.
TEST(Property, KernelsComeBackUnderTheirCalls) {
  for (std::uint64_t seed = 41; seed <= 50; ++seed) {
    Forest forest(seed);
    RunBuilder run;
    std::map<std::string, std::string> parents;
    std::uint64_t correlation = 1;
    for (const Planted& range : forest.ranges()) {
      run.thread(1, range.thread).range(range.name, range.begin_ns, range.end_ns);
      const bool leaf =
          std::none_of(forest.ranges().begin(), forest.ranges().end(),
                       [&](const Planted& other) { return other.parent == range.name; });
      if (!leaf || range.end_ns - range.begin_ns < 3) continue;
      const std::string id = std::to_string(correlation);
      run.call("c" + id + "c", range.begin_ns + 1, range.end_ns - 1, correlation);
      run.kernel("k" + id + "k", range.end_ns + 100, range.end_ns + 200, correlation);
      parents["c" + id + "c"] = range.name;
      parents["k" + id + "k"] = "c" + id + "c";
      ++correlation;
    }
    const Rebuilt rebuilt(run);
    ASSERT_GT(parents.size(), 10u);
    for (const auto& [child, parent] : parents) EXPECT_EQ(rebuilt.parent(child), parent);
  }
}

// Complete records in any order give the same nodes in the same order. (Strings are numbered by
// first use, so the bytes of the file need not be the same.)
TEST(Property, TheOrderOfCompleteRecordsChangesNothing) {
  Forest forest(99);
  std::string before;
  for (std::uint64_t round = 0; round < 4; ++round) {
    std::vector<Planted> order = forest.ranges();
    if (round > 0) std::shuffle(order.begin(), order.end(), std::mt19937_64(round));
    RunBuilder run;
    for (const Planted& range : order) {
      run.thread(1, range.thread).range(range.name, range.begin_ns, range.end_ns);
    }
    RunFolder& folder = run.finish();
    ASSERT_TRUE(reconstruct(folder, {}).ok());
    const auto chains = Chains::open(folder.file("chains.tcol"));
    ASSERT_TRUE(chains.ok());
    std::string now;
    for (std::uint32_t node = 0; node < chains->node_count(); ++node) {
      now += std::string(chains->string(chains->nodes.name[node])) + " " +
             std::to_string(chains->nodes.parent[node]) + " " +
             std::to_string(chains->nodes.begin_ns[node]) + " " +
             std::to_string(chains->nodes.end_ns[node]) + "\n";
    }
    if (round > 0) {
      EXPECT_EQ(now, before);
    }
    before = now;
  }
}

}  // namespace
}  // namespace teller
