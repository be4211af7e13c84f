#include "slice_maker.h"

#include <vector>

#include "run_folder/run_folder.h"

namespace teller::testing {

namespace {

class Maker {
 public:
  Maker(const Chains& chains, std::mt19937& random, unsigned keep)
      : chains_(chains), random_(random), keep_(keep) {}

  void add_unit(View view, const std::vector<std::uint32_t>& steps) {
    SliceUnitColumns<OwnedColumn>& units = out_.units;
    const auto first_node = static_cast<std::uint32_t>(out_.nodes.node.size());
    units.view.push_back(static_cast<std::uint8_t>(view));
    units.step.push_back(steps.front());
    units.first_member.push_back(static_cast<std::uint32_t>(out_.members.step.size()));
    units.member_count.push_back(static_cast<std::uint32_t>(steps.size()));
    std::uint32_t whole = 0;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const std::int32_t rank = view == View::kVertical ? -1 : static_cast<std::int32_t>(i);
      out_.members.step.push_back(steps[i]);
      out_.members.rank.push_back(rank);
      add_member(steps[i], rank);
      whole += chains_.steps.node_count[steps[i]];
    }
    units.first_node.push_back(first_node);
    units.node_count.push_back(static_cast<std::uint32_t>(out_.nodes.node.size()) - first_node);
    units.whole_nodes.push_back(whole);
    units.pace.push_back(0.5F);
    add_edges(first_node);
  }

  SlicesBuilder take() { return std::move(out_); }

 private:
  unsigned below(unsigned n) { return static_cast<unsigned>(random_() % n); }

  void add_member(std::uint32_t step, std::int32_t rank) {
    const std::uint32_t root = chains_.steps.root[step], count = chains_.steps.node_count[step];
    std::vector<std::uint32_t> kept(count, kNoIndex);  // the node, or its nearest kept ancestor
    std::vector<std::uint16_t> depth(count, 0);
    for (std::uint32_t i = 0; i < count; ++i) {
      std::uint32_t parent = kNoIndex;
      if (i > 0) {
        const std::uint32_t up = chains_.nodes.parent[root + i] - root;
        parent = kept[up];
        depth[i] = static_cast<std::uint16_t>(depth[up] + 1);
      }
      kept[i] = parent;
      if (i > 0 && below(10) >= keep_) continue;
      kept[i] = add_node(root + i, parent, depth[i], below(15) == 0 ? kSliceSuspicious : 0, rank);
      if (below(40) == 0) {
        add_node(root + i, kept[i], static_cast<std::uint16_t>(depth[i] + 1), kSliceGhost, rank);
      }
    }
  }

  std::uint32_t add_node(std::uint32_t node, std::uint32_t parent, std::uint16_t depth,
                         std::uint16_t flags, std::int32_t rank) {
    SliceNodeColumns<OwnedColumn>& nodes = out_.nodes;
    nodes.node.push_back(node);
    nodes.parent.push_back(parent);
    nodes.depth.push_back(depth);
    nodes.flags.push_back(flags);
    nodes.rank.push_back(rank);
    nodes.relevance.push_back(1);
    nodes.score.push_back(0);
    NodeFeatures features{};
    features[kZSelf] = static_cast<float>(below(21)) - 10;
    nodes.features.push_back(features);
    return static_cast<std::uint32_t>(nodes.node.size() - 1);
  }

  void add_edges(std::uint32_t first_node) {
    const auto first = static_cast<std::uint32_t>(out_.edges.from.size());
    for (std::uint32_t i = first_node; i < out_.nodes.node.size(); ++i) {
      if (out_.nodes.parent[i] != kNoIndex) add_edge(out_.nodes.parent[i], i, EdgeKind::kParent);
      if (i > first_node) add_edge(i - 1, i, EdgeKind::kTemporal);
    }
    out_.units.first_edge.push_back(first);
    out_.units.edge_count.push_back(static_cast<std::uint32_t>(out_.edges.from.size()) - first);
  }

  void add_edge(std::uint32_t from, std::uint32_t to, EdgeKind kind) {
    out_.edges.from.push_back(from);
    out_.edges.to.push_back(to);
    out_.edges.kind.push_back(static_cast<std::uint8_t>(kind));
  }

  const Chains& chains_;
  std::mt19937& random_;
  unsigned keep_;
  SlicesBuilder out_;
};

}  // namespace

SlicesBuilder random_slices(const Chains& chains, std::mt19937& random, unsigned keep) {
  Maker maker(chains, random, keep);
  for (std::uint32_t step = 0; step < chains.step_count(); ++step) {
    maker.add_unit(View::kVertical, {step});
  }
  if (chains.step_count() > 1) maker.add_unit(View::kHorizontal, {0, 1});
  return maker.take();
}

Status add_slices(const std::string& path, const SlicesBuilder& slices) {
  TELLER_TRY(RunFolder run, RunFolder::open(path));
  TELLER_CHECK_OK(slices.write(run.file("slices.tcol")));
  ArtifactInfo info;
  info.name = "slices";
  info.files = {"slices.tcol"};
  info.made_by = "slice";
  info.from = {"chains"};
  TELLER_CHECK_OK(run.publish(info));
  return run.save();
}

}  // namespace teller::testing
