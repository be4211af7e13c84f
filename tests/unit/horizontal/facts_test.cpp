#include "horizontal/facts.h"

#include <gtest/gtest.h>

namespace teller::horizontal_detail {
namespace {

TEST(Facts, OneWordPerOperation) {
  EXPECT_EQ(operation_of("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*)"), "all_reduce");
  EXPECT_EQ(operation_of("c10d::_reduce_scatter_base_"), "reduce_scatter");
  EXPECT_EQ(operation_of("_allgather_base"), "all_gather");
  EXPECT_EQ(operation_of("gloo:all_to_all"), "all_to_all");
  EXPECT_EQ(operation_of("ncclKernel_SendRecv_RING_SIMPLE"), "send_recv");
  EXPECT_FALSE(is_transfer(operation_of("_c10d_functional::wait_tensor")));
  EXPECT_TRUE(is_transfer("barrier"));
}

TEST(Facts, OfNcclKernels) {
  const CollectiveFacts facts = read_facts(
      "ncclDevKernel_AllGather", R"({"Collective name":"_allgather_base","In msg nelems":8,
      "Out msg nelems":32,"dtype":"BFloat16","Group size":4,"Process Group Name":"7",
      "Process Group Ranks":"[3, 1, 2, 0]","Seq":12})");
  EXPECT_EQ(facts.operation, "all_gather");
  EXPECT_EQ(facts.bytes, 64);
  EXPECT_EQ(facts.sequence, 12);
  EXPECT_EQ(facts.group, "7");
  EXPECT_EQ(facts.ranks, (std::vector<int>{0, 1, 2, 3}));
}

TEST(Facts, SizeFromShapesWhereNoneIsStated) {
  EXPECT_EQ(
      read_facts("nccl:all_reduce", R"({"Input Dims":[[10,3]],"Input type":["float"]})").bytes,
      120);
  EXPECT_EQ(
      read_facts("c10d::_allgather_base_",
                 R"({"Input Dims":[[64],[16],[],[]],"Input type":["float","float","","Scalar"]})")
          .bytes,
      256);
}

TEST(Facts, WhatIsLeftOutIsUnknown) {
  const CollectiveFacts facts =
      read_facts("nccl:all_reduce", R"({"Process Group Ranks":"[0, 1, ..., 1023]"})");
  EXPECT_TRUE(facts.ranks.empty());
  EXPECT_EQ(facts.bytes, -1);
  EXPECT_EQ(facts.sequence, -1);
}

// Fields come from anyone: nonsense is unknown, and nothing overflows.
TEST(Facts, Hostile) {
  const CollectiveFacts facts = read_facts(
      "nccl:all_reduce",
      R"({"Seq":-3,"In msg nelems":9223372036854775807,"dtype":"Double","Process Group Ranks":
      "[0, 99999999999999]","Src Rank":"x","Dst Rank":4000000000,
      "Input Dims":[[4611686018427387904,4611686018427387904]],"Input type":["double"]})");
  EXPECT_EQ(facts.sequence, -1);
  EXPECT_EQ(facts.bytes, -1);
  EXPECT_TRUE(facts.ranks.empty());
  EXPECT_EQ(facts.from, -1);
  EXPECT_EQ(facts.to, -1);
  for (const char* attrs : {"", "{", "[1]", "null", R"({"Seq":{}})", R"({"Input Dims":7})"}) {
    EXPECT_EQ(read_facts("nccl:all_reduce", attrs).sequence, -1) << attrs;
  }
}

TEST(Facts, BusFactor) {
  EXPECT_DOUBLE_EQ(bus_factor("all_reduce", 4), 1.5);
  EXPECT_DOUBLE_EQ(bus_factor("all_gather", 4), 0.75);
  EXPECT_DOUBLE_EQ(bus_factor("all_reduce", 1), 0);
}

}  // namespace
}  // namespace teller::horizontal_detail
