// The slice around suspicious nodes, paper section 3.4: relevance of every node, and which nodes
// stay. On plain arrays, so that it can be compared with the formula taken literally.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace teller::slice_detail {

// Parameters of the slice; docs/slice.md says what each one does.
struct RelevanceWeights {
  double alpha = 1.0;            // of a suspicious node itself
  double beta = 0.5;             // of its parent and its children
  double gamma = 0.5;            // of what lies close to it in time
  double eta = 0.5;              // of what communication ties to it
  double tau_ns = 100'000;       // how fast closeness in time fades
  double kappa = 0.4;            // nodes stay from this relevance on
  std::uint32_t ancestors = 16;  // levels of ancestors that stay with a suspicious node
};

// Nodes of one unit. A parent's index is smaller than its child's; 0xffffffff: a root. Intervals
// have begin <= end and lie within the limits of chains.h.
struct RelevanceGraph {
  std::span<const std::uint32_t> parent;
  std::span<const std::int64_t> begin_ns, end_ns;
  std::span<const std::uint8_t> suspicious;  // v in I_s
  // E_c; both directions count.
  std::span<const std::pair<std::uint32_t, std::uint32_t>> communication;
};

// R_s(v) of every node. All 0 where nothing is suspicious. Time n log n.
std::vector<float> relevance(const RelevanceGraph& graph, const RelevanceWeights& weights);

// 1 for the ancestors of suspicious nodes, up to `levels` above them: Anc_h(I_s).
std::vector<std::uint8_t> ancestors_of_suspicious(const RelevanceGraph& graph,
                                                  std::uint32_t levels);

}  // namespace teller::slice_detail
