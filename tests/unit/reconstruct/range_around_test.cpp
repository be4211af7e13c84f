// The innermost range around calls, however deep they nest. No test asserts a time: climbed once
// per call, the deep one takes hours.
#include "reconstruct/range_around.h"

#include <gtest/gtest.h>

namespace teller {
namespace {

Item item(ItemKind kind, std::uint32_t parent) {
  Item made;
  made.kind = kind;
  made.parent = parent;
  return made;
}

TEST(RangeAround, PassesCallsOnly) {
  const std::vector<Item> items = {
      item(ItemKind::kRange, kNoIndex), item(ItemKind::kCall, 0), item(ItemKind::kCall, 1),
      item(ItemKind::kRange, 2),        item(ItemKind::kCall, 3), item(ItemKind::kCall, kNoIndex),
      item(ItemKind::kCall, 5)};
  RangeAround around(items);
  EXPECT_EQ(around.of(2), 0u);
  EXPECT_EQ(around.of(1), 0u);
  EXPECT_EQ(around.of(3), 0u);
  EXPECT_EQ(around.of(4), 3u);
  EXPECT_EQ(around.of(0), kNoIndex);
  EXPECT_EQ(around.of(6), kNoIndex);
}

TEST(RangeAround, ManyCallsInCalls) {
  constexpr std::uint32_t kMany = 2'000'000;
  std::vector<Item> items = {item(ItemKind::kRange, kNoIndex)};
  for (std::uint32_t i = 0; i < kMany; ++i) items.push_back(item(ItemKind::kCall, i));
  RangeAround around(items);
  std::uint32_t wrong = 0;
  for (std::uint32_t i = 1; i <= kMany; ++i) wrong += around.of(i) != 0;
  EXPECT_EQ(wrong, 0u);
}

}  // namespace
}  // namespace teller
