// The deviation over the steps around: what lasts shows, what happens once does not.
#include "slice/persistence.h"

#include <gtest/gtest.h>

namespace teller::slice_detail {
namespace {

TEST(Persistence, OneSlowStepIsNoneAndALastingOneIs) {
  Persistence around;
  for (std::uint32_t step = 0; step < 60; ++step) {
    around.add({1, 0, -1}, step, step == 20 ? 9 : 0.5);
    around.add({2, 0, -1}, step, step >= 30 ? 3 : 0);
  }
  around.finish();
  EXPECT_DOUBLE_EQ(around.at({1, 0, -1}, 20), 0.5);
  EXPECT_DOUBLE_EQ(around.at({2, 0, -1}, 59), 3);
  EXPECT_DOUBLE_EQ(around.at({2, 0, -1}, 38), 3);
  EXPECT_DOUBLE_EQ(around.at({2, 0, -1}, 10), 0);
}

TEST(Persistence, RequestsAndRanksAreFollowedApart) {
  Persistence around;
  for (std::uint32_t step = 0; step < 20; ++step) {
    around.add({1, 7, 0}, step, 0);
    around.add({1, 8, 0}, step, 2);
    around.add({1, 7, 1}, step, 4);
  }
  around.finish();
  EXPECT_DOUBLE_EQ(around.at({1, 7, 0}, 10), 0);
  EXPECT_DOUBLE_EQ(around.at({1, 8, 0}, 10), 2);
  EXPECT_DOUBLE_EQ(around.at({1, 7, 1}, 10), 4);
}

TEST(Persistence, ShortSeriesAndUnknownStepsSayNothing) {
  Persistence around;
  for (std::uint32_t step = 0; step < kFewestAround - 1; ++step) around.add({1, 0, -1}, step, 5);
  for (std::uint32_t step = 0; step < 20; step += 2) around.add({2, 0, -1}, step, 5);
  around.finish();
  EXPECT_DOUBLE_EQ(around.at({1, 0, -1}, 1), 0);
  EXPECT_DOUBLE_EQ(around.at({2, 0, -1}, 4), 5);
  EXPECT_DOUBLE_EQ(around.at({2, 0, -1}, 5), 0);
  EXPECT_DOUBLE_EQ(around.at({3, 0, -1}, 4), 0);
}

}  // namespace
}  // namespace teller::slice_detail
