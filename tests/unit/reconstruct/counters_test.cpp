#include "reconstruct/counters.h"

#include <gtest/gtest.h>

namespace teller {
namespace {

TEST(Counters, EveryBucketIsVisitedAndInTheSum) {
  RecordBalance balance;
  std::uint64_t buckets = 0;
  visit_balance(balance, [&](const char*, std::uint64_t& count) {
    count = 1;
    ++buckets;
  });
  EXPECT_EQ(buckets * sizeof(std::uint64_t), sizeof(RecordBalance));
  EXPECT_EQ(balance.sum(), buckets - 1) << "all but records_in";
}

}  // namespace
}  // namespace teller
