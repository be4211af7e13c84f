#include "run_folder/chains.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace teller
