#include "run_folder/chains.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "temp_dir.h"

namespace teller {
namespace {

// Two nodes, one step; every column filled so that the file is legal.
ChainsBuilder small_chains() {
  ChainsBuilder chains;
  const std::uint32_t name = chains.strings.intern("engine step");
  visit_columns(chains, [](const char* table, const char*, auto& column) {
    const std::string_view t = table;
    if (t == "nodes") column.resize(2);
    if (t == "steps" || t == "sources") column.resize(1);
  });
  chains.nodes.parent = {kNoIndex, 0};
  chains.nodes.request = {kNoIndex, kNoIndex};
  chains.nodes.track = {kNoIndex, kNoIndex};
  chains.nodes.name = {name, 0};
  chains.steps.node_count = {2};
  return chains;
}

TEST(Chains, GiveBackWhatWasWritten) {
  TempDir dir;
  ASSERT_TRUE(small_chains().write(dir.file("chains.tcol")));
  auto chains = Chains::open(dir.file("chains.tcol"));
  ASSERT_TRUE(chains) << chains.error().message;
  EXPECT_EQ(chains->node_count(), 2u);
  EXPECT_EQ(chains->string(chains->nodes.name[0]), "engine step");
  EXPECT_EQ(chains->string(99), "");
}

template <typename Break>
bool opens_after(Break&& damage) {
  TempDir dir;
  ChainsBuilder chains = small_chains();
  damage(chains);
  EXPECT_TRUE(chains.write(dir.file("chains.tcol")));
  return Chains::open(dir.file("chains.tcol")).ok();
}

TEST(Chains, IndexesThatPointNowhereAreRefused) {
  EXPECT_TRUE(opens_after([](ChainsBuilder&) {}));
  EXPECT_FALSE(opens_after([](ChainsBuilder& c) { c.nodes.parent[1] = 1; }));
  EXPECT_FALSE(opens_after([](ChainsBuilder& c) { c.nodes.parent[0] = 1; }));
  EXPECT_FALSE(opens_after([](ChainsBuilder& c) { c.nodes.name[0] = 77; }));
  EXPECT_FALSE(opens_after([](ChainsBuilder& c) { c.nodes.step[1] = kNoIndex; }));
  EXPECT_FALSE(opens_after([](ChainsBuilder& c) { c.nodes.request[1] = 0; }));
  EXPECT_FALSE(opens_after([](ChainsBuilder& c) { c.nodes.layer[1] = 9; }));
  EXPECT_FALSE(opens_after([](ChainsBuilder& c) { c.steps.row_count[0] = 1; }));
  EXPECT_FALSE(opens_after([](ChainsBuilder& c) { c.steps.node_count[0] = 3; }));
  EXPECT_FALSE(opens_after([](ChainsBuilder& c) { c.nodes.source[1] = 1; }));
  EXPECT_FALSE(opens_after([](ChainsBuilder& c) { c.nodes.value.pop_back(); }));
}

// Two steps of three nodes (root, schedule, row) with a row each, and a tree outside of two.
ChainsBuilder two_steps() {
  ChainsBuilder chains;
  visit_columns(chains, [](const char* table, const char*, auto& column) {
    const std::string_view t = table;
    if (t == "nodes") column.resize(8);
    if (t == "steps" || t == "rows") column.resize(2);
    if (t == "sources" || t == "requests" || t == "logs") column.resize(1);
  });
  chains.nodes.parent = {kNoIndex, 0, 1, kNoIndex, 3, 4, kNoIndex, 6};
  chains.nodes.step = {0, 0, 0, 1, 1, 1, kNoIndex, kNoIndex};
  chains.nodes.track.assign(8, kNoIndex);
  chains.nodes.begin_ns.assign(8, 10);
  chains.nodes.end_ns.assign(8, 20);
  chains.steps.root = {0, 3};
  chains.steps.schedule = {1, 4};
  chains.steps.node_count = {3, 3};
  chains.steps.first_row = {0, 1};
  chains.steps.row_count = {1, 1};
  chains.rows.step = {0, 1};
  chains.rows.node = {2, 5};
  return chains;
}

template <typename Break>
std::string refusal(Break&& damage) {
  TempDir dir;
  ChainsBuilder chains = two_steps();
  damage(chains);
  EXPECT_TRUE(chains.write(dir.file("chains.tcol")));
  const auto opened = Chains::open(dir.file("chains.tcol"));
  return opened ? "none" : opened.error().message;
}

#define EXPECT_REFUSED(statement, why)                                                 \
  EXPECT_NE(refusal([](ChainsBuilder& c) { statement; }).find(why), std::string::npos) \
      << refusal([](ChainsBuilder& c) { statement; })

TEST(Chains, TreesThatAreNotInPreorderAreRefused) {
  EXPECT_EQ(refusal([](ChainsBuilder&) {}), "none");
  EXPECT_REFUSED(c.nodes.parent = (std::vector<std::uint32_t>{kNoIndex, 0, 0, kNoIndex, 3, 4,
                                                              kNoIndex, kNoIndex}),
                 "none");
  EXPECT_REFUSED((c.nodes.step.assign(8, 0), c.nodes.parent = {kNoIndex, 0, 0, 1, 0, 4, 5, 6}),
                 "not in preorder");
  EXPECT_REFUSED(c.nodes.parent[7] = 5, "another tree");
  EXPECT_REFUSED(c.nodes.parent[0] = 0, "before its parent");
}

TEST(Chains, StepsThatAreNoTreeAreRefused) {
  EXPECT_REFUSED(c.steps.root[0] = 1, "root or size");
  EXPECT_REFUSED(std::swap(c.steps.root[0], c.steps.root[1]), "root or size");
  EXPECT_REFUSED(c.steps.node_count[0] = 2, "root or size");
  EXPECT_REFUSED(c.steps.node_count[1] = 4, "root or size");
  EXPECT_REFUSED(c.steps.node_count[1] = 5, "root or size");
  EXPECT_REFUSED(c.nodes.parent[2] = kNoIndex, "root or size");  // two trees of one step
  EXPECT_REFUSED(std::fill_n(c.nodes.step.begin() + 3, 3, kNoIndex), "root heads another tree");
  EXPECT_REFUSED(c.steps.schedule[0] = 4, "schedule");
  EXPECT_REFUSED(c.steps.schedule[1] = 7, "schedule");
}

TEST(Chains, RowsOutsideTheirStepAreRefused) {
  EXPECT_REFUSED(c.rows.node[0] = 5, "row's node");
  EXPECT_REFUSED(c.rows.node[0] = 7, "row's node");
  EXPECT_REFUSED(c.rows.step[0] = 1, "those of another");
  EXPECT_REFUSED(c.steps.first_row[1] = 0, "those of another");
  EXPECT_REFUSED(c.steps.row_count[1] = 0, "belongs to no step");
  EXPECT_REFUSED(c.steps.first_row[1] = 2, "outside their table");
}

TEST(Chains, TimesThatCouldOverflowAreRefused) {
  constexpr std::int64_t kFar = kTimeLimitNs + 1;
  EXPECT_EQ(refusal([](ChainsBuilder& c) { c.nodes.end_ns[0] = kTimeLimitNs; }), "none");
  EXPECT_REFUSED(c.nodes.begin_ns[0] = -kFar, "larger than any run's");
  EXPECT_REFUSED(c.nodes.end_ns[0] = kFar, "larger than any run's");
  EXPECT_REFUSED(c.steps.begin_ns[0] = -kFar, "larger than any run's");
  EXPECT_REFUSED(c.steps.end_ns[0] = kFar, "larger than any run's");
  EXPECT_REFUSED(c.steps.last_ns[0] = kFar, "larger than any run's");
  EXPECT_REFUSED(c.steps.device_busy_ns[0] = -1, "device time");
  EXPECT_REFUSED(c.rows.end_ns[0] = kFar, "larger than any run's");
  EXPECT_REFUSED(c.requests.first_seen_ns[0] = kFar, "larger than any run's");
  EXPECT_REFUSED(c.requests.last_ns[0] = -kFar, "larger than any run's");
  EXPECT_REFUSED(c.logs.time_ns[0] = kFar, "larger than any run's");
  EXPECT_REFUSED(c.nodes.begin_ns[0] = 21, "ends before");
  EXPECT_REFUSED(c.steps.begin_ns[0] = 1, "ends before");
}

}  // namespace
}  // namespace teller
