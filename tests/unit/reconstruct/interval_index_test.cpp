#include "reconstruct/interval_index.h"

#include <gtest/gtest.h>

#include <random>

namespace teller {
namespace {

TEST(IntervalIndex, AgreesWithTheSlowAndObviousWay) {
  std::mt19937 random(3);
  for (std::size_t count = 0; count < 40; ++count) {
    IntervalIndex index;
    std::vector<std::int64_t> begins;
    std::vector<std::int64_t> ends;
    for (std::uint32_t i = 0; i < count; ++i) {
      begins.push_back(2 * i);
      ends.push_back(2 * i + random() % 30);
      index.add(begins.back(), ends.back(), i + 100);
    }
    index.build();
    for (std::int64_t time = -1; time < 120; ++time) {
      std::size_t begun = 0;
      while (begun < count && begins[begun] <= time) ++begun;
      ASSERT_EQ(index.begun_by(time), begun);
      for (std::size_t first = 0; first <= count; ++first) {
        std::size_t expected = first;
        while (expected > 0 && ends[expected - 1] < time) --expected;
        const std::size_t found = index.last_reaching(first, time);
        ASSERT_EQ(found, expected == 0 ? IntervalIndex::kNone : expected - 1);
      }
    }
    if (count > 0) {
      EXPECT_EQ(index.id(count - 1), count + 99);
    }
  }
}

}  // namespace
}  // namespace teller
