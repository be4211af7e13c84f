// What happened in one simulated step: ranges, calls and kernels, before they become events.
#pragma once

#include <cstdint>
#include <vector>

#include "teller/event.h"

namespace teller::simulate {

enum class NodeKind : std::uint8_t { kRange, kCall, kKernel };

struct TreeNode {
  NodeKind kind = NodeKind::kRange;
  Layer layer = Layer::kBackEnd;
  bool is_driver = false;   // calls
  const char* name = "";    // without the request; lives as long as the program
  const char* family = "";  // as reconstruct will call it
  int parent = -1;
  int request = -1;
  int rank = 0;
  int stream = -1;  // kernels
  std::int64_t begin_ns = 0, end_ns = 0;
  std::uint64_t correlation = 0;  // calls and kernels
  std::int64_t value = 0;         // calls: return code
  std::int64_t wait_ns = 0;       // time in it that it only waits: for peers, or for the device
};

struct StepTree {
  std::vector<TreeNode> nodes;  // a parent before its children, siblings in order of time

  int open(const TreeNode& node) {
    nodes.push_back(node);
    return static_cast<int>(nodes.size()) - 1;
  }
  void close(int index, std::int64_t now) { nodes[static_cast<std::size_t>(index)].end_ns = now; }
};

}  // namespace teller::simulate
