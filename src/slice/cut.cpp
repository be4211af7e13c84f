#include "slice/cut.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "slice/collectives.h"
#include "slice/robust.h"
#include "slice/unit.h"

namespace teller::slice_detail {
namespace {

enum Kept : std::uint8_t { kCut = 0, kByRelevance = 1, kAsAncestor = 2, kAsSkeleton = 4 };

// V_s of one unit: per node a set of Kept.
std::vector<std::uint8_t> choose(const Unit& unit, const std::vector<float>& relevance,
                                 const SliceOptions& options) {
  std::vector<std::uint8_t> kept(unit.size(), kCut);
  const bool any =
      std::find(unit.suspicious.begin(), unit.suspicious.end(), 1) != unit.suspicious.end();
  const std::vector<std::uint8_t> ancestors =
      ancestors_of_suspicious(unit.graph(), options.weights.ancestors);
  const auto kappa = static_cast<float>(options.weights.kappa);
  for (std::uint32_t v = 0; v < unit.size(); ++v) {
    if (any && (relevance[v] >= kappa || unit.ghost[v] != 0)) kept[v] |= kByRelevance;
    if (ancestors[v] != 0) kept[v] |= kAsAncestor;
    const bool shape = !any && unit.depth[v] <= options.skeleton_levels;
    if (shape || unit.role[v] != Role::kOther) kept[v] |= kAsSkeleton;
  }
  return kept;
}

// Which node goes first if there are too many.
std::tuple<int, float, std::uint32_t> priority(const Unit& unit, std::uint8_t kept,
                                               const std::vector<float>& relevance,
                                               std::uint32_t v) {
  if (unit.role[v] == Role::kFrame) return {0, 0.0F, v};
  if (unit.suspicious[v] != 0) return {1, -unit.score[v], v};
  if ((kept & kAsAncestor) != 0) return {2, 0.0F, v};
  if (unit.role[v] == Role::kRow) return {3, 0.0F, v};
  return {4, -relevance[v], v};
}

// Leaves at most `limit` nodes; STEP nodes always stay. Returns how many were cut.
std::size_t limit_nodes(const Unit& unit, const std::vector<float>& relevance, std::size_t limit,
                        std::vector<std::uint8_t>& kept) {
  std::vector<std::tuple<int, float, std::uint32_t>> order;
  for (std::uint32_t v = 0; v < unit.size(); ++v) {
    if (kept[v] != kCut) order.push_back(priority(unit, kept[v], relevance, v));
  }
  if (order.size() <= limit) return 0;
  std::nth_element(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(limit), order.end());
  std::size_t cut = 0;
  for (std::size_t i = limit; i < order.size(); ++i) {
    const std::uint32_t v = std::get<2>(order[i]);
    if (unit.parent[v] == kNoIndex) continue;
    kept[v] = kCut;
    ++cut;
  }
  return cut;
}

class Cutter {
 public:
  Cutter(const Case& c, const Findings& findings, CutCounts& counts)
      : c_(c), counts_(counts), features_(c, suspects_of(findings, c.keys)) {}

  SlicesBuilder run() {
    for (std::uint32_t step = 0; step < c_.chains.step_count(); ++step) cut_step(step);
    for (const RankSteps& steps : steps_across_ranks(c_.chains)) cut_across(steps);
    return std::move(out_);
  }

 private:
  void cut_step(std::uint32_t step) {
    unit_.clear();
    begin_unit(View::kVertical, step, features_.pace(step));
    add_member(step, c_.chains.rank(c_.chains.steps.root[step]));
    write_unit();
  }

  void cut_across(const RankSteps& steps) {
    unit_.clear();
    std::vector<double> paces;
    for (const RankSteps::Member& one : steps.members) {
      paces.push_back(static_cast<double>(features_.pace(one.step)));
    }
    begin_unit(View::kHorizontal, steps.members.front().step,
               static_cast<float>(median(std::move(paces))));
    std::vector<std::vector<std::uint32_t>> places;
    for (const RankSteps::Member& one : steps.members) {
      places.push_back(add_member(one.step, one.rank));
    }
    for (const CollectiveGroup& group : match_collectives(c_.chains, steps)) {
      std::vector<std::uint32_t> nodes;
      for (const Arrival& one : group.arrivals) {
        const std::uint32_t root = c_.chains.steps.root[steps.members[one.member].step];
        nodes.push_back(places[one.member][one.node - root]);
        judge_arrival(group, one, nodes.back());
      }
      tie_peers(group, nodes);
    }
    write_unit();
  }

  // Features of a collective against the other ranks.
  void judge_arrival(const CollectiveGroup& group, const Arrival& arrival, std::uint32_t v) {
    const auto norm = c_.baseline.collectives.find(std::string(c_.chains.string(group.family)));
    NodeFeatures& features = unit_.features[v];
    features[kWaitShare] = feature_value(arrival.wait_share);
    // How long it took is mostly how long it waited: it is judged by its arrival and its transfer.
    if (!is_bad_whatever_its_time(features)) unit_.suspicious[v] = 0, unit_.score[v] = 0;
    if (norm == c_.baseline.collectives.end()) return;
    const double late = std::asinh(arrival.lateness_ns / norm->second.late_spread_ns);
    features[kLateness] = feature_value(late);
    if (!arrival.open) {
      features[kBandwidth] = feature_value(norm->second.transfer.deviation(arrival.log_transfer));
    }
    const float z = std::max(features[kLateness], features[kBandwidth]);
    if (z < static_cast<float>(c_.options.suspicion_z)) return;
    unit_.score[v] = std::max(unit_.score[v], z);
    unit_.suspicious[v] = 1;
  }

  // Each collective with its peer on the rank that came last: with every other one there would be
  // as many edges as pairs of ranks.
  void tie_peers(const CollectiveGroup& group, const std::vector<std::uint32_t>& nodes) {
    std::size_t last = 0;
    for (std::size_t i = 1; i < nodes.size(); ++i) {
      if (group.arrivals[i].lateness_ns > group.arrivals[last].lateness_ns) last = i;
    }
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (i != last) unit_.communication.emplace_back(nodes[last], nodes[i]);
    }
  }

  // Returns where the step's nodes stand in the unit.
  std::vector<std::uint32_t> add_member(std::uint32_t step, std::int32_t rank) {
    features_.measure(step, step_);
    const auto score = static_cast<float>(c_.options.suspicion_z);
    const std::uint32_t first = unit_.size(), root = c_.chains.steps.root[step];
    std::vector<std::uint32_t> places = unit_.add_member(c_.chains, step, rank, step_, score);
    std::vector<std::uint32_t> collectives;
    for (const std::uint32_t node : collectives_of_step(c_.chains, step)) {
      collectives.push_back(places[node - root]);
    }
    tie_regions(c_.chains, first, unit_.size(), collectives, unit_);
    out_.members.step.push_back(step);
    out_.members.rank.push_back(rank);
    return places;
  }

  void begin_unit(View view, std::uint32_t step, float pace) {
    out_.units.view.push_back(static_cast<std::uint8_t>(view));
    out_.units.step.push_back(step);
    out_.units.first_member.push_back(static_cast<std::uint32_t>(out_.members.step.size()));
    out_.units.first_node.push_back(static_cast<std::uint32_t>(out_.nodes.node.size()));
    out_.units.first_edge.push_back(static_cast<std::uint32_t>(out_.edges.from.size()));
    out_.units.pace.push_back(pace);
  }

  void write_unit() {
    const std::vector<float> relevance = slice_detail::relevance(unit_.graph(), c_.options.weights);
    std::vector<std::uint8_t> kept = choose(unit_, relevance, c_.options);
    counts_.over_limit += limit_nodes(unit_, relevance, c_.options.max_nodes, kept);
    write_nodes(relevance, kept);
    write_edges();
    SliceUnitColumns<OwnedColumn>& units = out_.units;
    units.member_count.push_back(
        static_cast<std::uint32_t>(out_.members.step.size() - units.first_member.back()));
    units.node_count.push_back(
        static_cast<std::uint32_t>(out_.nodes.node.size() - units.first_node.back()));
    units.edge_count.push_back(
        static_cast<std::uint32_t>(out_.edges.from.size() - units.first_edge.back()));
    const auto ghosts = std::count(unit_.ghost.begin(), unit_.ghost.end(), 1);
    units.whole_nodes.push_back(unit_.size() - static_cast<std::uint32_t>(ghosts));
    const auto suspicious = std::count(unit_.suspicious.begin(), unit_.suspicious.end(), 1);
    counts_.whole_nodes += units.whole_nodes.back();
    counts_.kept_nodes += units.node_count.back();
    counts_.suspicious_nodes += static_cast<std::size_t>(suspicious);
    counts_.suspicious_units += suspicious > 0 ? 1 : 0;
  }

  void write_nodes(const std::vector<float>& relevance, const std::vector<std::uint8_t>& kept) {
    written_.clear();
    place_.assign(unit_.size(), kNoIndex);
    std::vector<std::uint32_t> nearest(unit_.size(), kNoIndex);  // kept, itself or above
    for (std::uint32_t v = 0; v < unit_.size(); ++v) {
      const std::uint32_t above = unit_.parent[v] == kNoIndex ? kNoIndex : nearest[unit_.parent[v]];
      nearest[v] = above;
      if (kept[v] == kCut) continue;
      place_[v] = nearest[v] = static_cast<std::uint32_t>(out_.nodes.node.size());
      written_.push_back(v);
      out_.nodes.node.push_back(unit_.node[v]);
      out_.nodes.parent.push_back(above);
      out_.nodes.depth.push_back(unit_.depth[v]);
      out_.nodes.flags.push_back(flags_of(v, kept[v]));
      out_.nodes.rank.push_back(unit_.rank[v]);
      out_.nodes.relevance.push_back(relevance[v]);
      out_.nodes.score.push_back(unit_.score[v]);
      out_.nodes.features.push_back(unit_.features[v]);
    }
  }

  std::uint16_t flags_of(std::uint32_t v, std::uint8_t kept) const {
    std::uint16_t flags = 0;
    if (unit_.suspicious[v] != 0) flags |= kSliceSuspicious;
    if ((kept & kAsAncestor) != 0) flags |= kSliceAncestor;
    if ((kept & kAsSkeleton) != 0) flags |= kSliceSkeleton;
    if (unit_.ghost[v] != 0) flags |= kSliceGhost;
    return flags;
  }

  void add_edge(std::uint32_t from, std::uint32_t to, EdgeKind kind) {
    out_.edges.from.push_back(from);
    out_.edges.to.push_back(to);
    out_.edges.kind.push_back(static_cast<std::uint8_t>(kind));
  }

  void write_edges() {
    for (const std::uint32_t v : written_) {
      const std::uint32_t parent = out_.nodes.parent[place_[v]];
      if (parent != kNoIndex) add_edge(parent, place_[v], EdgeKind::kParent);
    }
    write_succession();
    auto& pairs = unit_.communication;
    std::sort(pairs.begin(), pairs.end());
    pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
    for (const auto& [from, to] : pairs) {
      if (place_[from] == kNoIndex || place_[to] == kNoIndex) continue;
      add_edge(place_[from], place_[to], EdgeKind::kCommunication);
    }
  }

  // E_t among the nodes that are kept: siblings of one thread, and all of one stream.
  void write_succession() {
    std::vector<std::tuple<std::uint32_t, std::uint32_t, std::int64_t, std::uint32_t>> order;
    for (const std::uint32_t v : written_) {
      if (unit_.track[v] == kNoIndex || unit_.role[v] == Role::kRow) continue;
      const bool device = c_.chains.layer(unit_.node[v]) == Layer::kKernel;
      const std::uint32_t among = device ? kNoIndex - 1 : out_.nodes.parent[place_[v]];
      order.emplace_back(unit_.track[v], among, unit_.begin_ns[v], place_[v]);
    }
    std::sort(order.begin(), order.end());
    for (std::size_t i = 1; i < order.size(); ++i) {
      const auto& [track, among, begin, place] = order[i];
      const bool same = std::get<0>(order[i - 1]) == track && std::get<1>(order[i - 1]) == among;
      if (same && among != kNoIndex)
        add_edge(std::get<3>(order[i - 1]), place, EdgeKind::kTemporal);
    }
  }

  const Case& c_;
  CutCounts& counts_;
  const FeatureMaker features_;
  StepFeatures step_;
  Unit unit_;
  std::vector<std::uint32_t> place_;    // by unit index: in out_.nodes; kNoIndex: cut
  std::vector<std::uint32_t> written_;  // unit indices, in order
  SlicesBuilder out_;
};

}  // namespace

SlicesBuilder cut_slices(const Case& c, const Findings& findings, CutCounts& counts) {
  return Cutter(c, findings, counts).run();
}

}  // namespace teller::slice_detail
