#include "base/bounded_counts.h"

#include <gtest/gtest.h>

namespace teller {
namespace {

TEST(BoundedCounts, FewAreKeptAsTheyAre) {
  EXPECT_EQ(bounded_counts({}), CountsByText{});
  const CountsByText few = {{"a", 1}, {"b", 2}, {"", 3}};
  EXPECT_EQ(bounded_counts(few), few);
}

TEST(BoundedCounts, ManyAreKeptInOne) {
  CountsByText many;
  for (int i = 0; i < 3000; ++i) many["c" + std::to_string(i)] = 1;
  many["zz"] = 7;
  many[std::string(kMostCountText + 1, 'x')] = 100;
  const CountsByText bounded = bounded_counts(many);
  EXPECT_EQ(bounded.size(), kMostCounts + 1);
  EXPECT_EQ(bounded.at("zz"), 7u);
  EXPECT_EQ(bounded.at(kOtherCounts), 100 + 3000 - (kMostCounts - 1));
  EXPECT_EQ(bounded.count("c0"), 1u);  // the first by text among equals
}

}  // namespace
}  // namespace teller
