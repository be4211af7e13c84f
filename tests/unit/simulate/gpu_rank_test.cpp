#include "simulate/gpu_rank.h"

#include <gtest/gtest.h>

#include <string>

namespace teller::simulate {
namespace {

constexpr GpuName kKernel{"kernel", "kernel"};

const Machine& machine() {
  static const Machine quiet(Key(1), {1, 1, 0, 0, 0}, 10);
  return quiet;
}

const TreeNode& find(const StepTree& tree, const std::string& name) {
  for (const TreeNode& node : tree.nodes) {
    if (node.name == name) return node;
  }
  static const TreeNode none;
  ADD_FAILURE() << "no node is called " << name;
  return none;
}

GpuRank run(double kernel_ns, bool with_pause = false) {
  GpuRank rank(0, 1000, Key(3), machine(), 1);
  rank.open("step", Layer::kStep);
  rank.open("operator", Layer::kBackEnd);
  rank.work("dispatch", 5000);
  rank.launch(kKernel, kernel_ns);
  rank.close();
  if (with_pause) {
    rank.open("collect", Layer::kFrontEnd);
    rank.pause(1'000'000);
    rank.close();
  }
  rank.open("after", Layer::kBackEnd);
  rank.work("dispatch", 5000);
  rank.launch(kKernel, 50'000);
  rank.close();
  rank.synchronise("cudaStreamSynchronize");
  rank.close();
  return rank;
}

std::int64_t duration(const TreeNode& node) {
  return node.end_ns - node.begin_ns;
}

TEST(GpuRank, SlowKernelShowsInTheSynchroniseCallAndNotInItsRange) {
  GpuRank fast = run(100'000);
  GpuRank slow = run(5'000'000);
  EXPECT_EQ(duration(find(fast.tree(), "operator")), duration(find(slow.tree(), "operator")));
  const TreeNode& wait = find(slow.tree(), "cudaStreamSynchronize");
  EXPECT_GT(duration(wait), 4'000'000);
  EXPECT_EQ(wait.wait_ns, duration(wait));
  EXPECT_LT(duration(find(fast.tree(), "cudaStreamSynchronize")), 1'000'000);
}

TEST(GpuRank, WhatAFaultAddsShiftsNoOthersDraws) {
  GpuRank plain = run(100'000);
  GpuRank paused = run(100'000, true);
  EXPECT_EQ(duration(find(plain.tree(), "after")), duration(find(paused.tree(), "after")));
  EXPECT_EQ(duration(find(paused.tree(), "collect")), 1'000'000 + 700 + 400);
}

TEST(GpuRank, HungDeviceLeavesTheHostInItsSynchroniseCall) {
  GpuRank rank(0, 1000, Key(3), machine(), 1);
  rank.open("step", Layer::kStep);
  rank.hang();
  const int call = rank.launch(kKernel, 1000);
  EXPECT_EQ(rank.tree().nodes[static_cast<std::size_t>(call)].kind, NodeKind::kCall);
  rank.synchronise("cudaStreamSynchronize");
  rank.close();
  EXPECT_EQ(find(rank.tree(), "cudaStreamSynchronize").end_ns, kOpenNs);
  EXPECT_EQ(find(rank.tree(), "step").end_ns, kOpenNs);
}

}  // namespace
}  // namespace teller::simulate
