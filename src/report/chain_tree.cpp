// The chain of one step as a tree for people: siblings of one family are one line.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "base/saturate.h"
#include "report/document.h"
#include "report/roles.h"

namespace teller::report_detail {
namespace {

using Nodes = std::vector<std::uint32_t>;

// A line whose path to what is shown already is longer than this is shown with a few of the levels
// next to it only.
constexpr std::size_t kLongestPath = 24;
constexpr std::size_t kNearestLevels = 4;

// Siblings of one family.
struct Line {
  std::uint32_t node = 0;   // the first of them
  std::size_t parent = 0;   // line; the root is its own
  std::uint32_t depth = 0;  // in the tree
  std::size_t count = 0;
  std::int64_t sum_ns = 0, longest_ns = 0;
  std::size_t marked = 0;  // that the findings point at
  std::uint16_t flags = 0;
};

class TreeMaker {
 public:
  TreeMaker(const Source& source, const ChainChoice& choice)
      : chains_(source.chains),
        roles_(source.run),
        choice_(choice),
        limit_(source.options.max_chain_lines) {
    collect_children();
    collect_marked(source.findings);
  }

  Json make() {
    const std::uint32_t root = choice_.root;
    whole_ns_ = std::max<std::int64_t>(duration(root), 1);
    collect_lines();
    return shorten();
  }
  std::size_t left_out() const { return left_out_; }
  std::size_t of_others() const { return of_others_; }
  Layer lowest() const { return lowest_; }

 private:
  std::int64_t duration(std::uint32_t node) const {
    return saturating_sub(chains_.nodes.end_ns[node], chains_.nodes.begin_ns[node]);
  }

  // C_q(s): what belongs to another request is no part of this request's chain.
  bool belongs(std::uint32_t node) const {
    const std::uint32_t owner = chains_.nodes.request[node];
    return choice_.request == kNoIndex || owner == kNoIndex || owner == choice_.request;
  }

  // One past the last node of the tree.
  std::uint32_t end_of_tree() const {
    std::uint32_t node = first_ + 1;
    while (node < chains_.node_count() && chains_.nodes.parent[node] != kNoIndex) ++node;
    return node;
  }

  void collect_children() {
    first_ = choice_.root;
    const std::uint32_t end = end_of_tree();
    children_.resize(end - first_);
    for (std::uint32_t node = first_ + 1; node < end; ++node) {
      if (chains_.nodes.parent[node] < first_) continue;  // the root is no root: a damaged file
      if (!belongs(node)) {
        ++of_others_;
        continue;
      }
      lowest_ = std::max(lowest_, chains_.layer(node));
      children_[chains_.nodes.parent[node] - first_].push_back(node);
    }
  }

  void mark(const Json& locators) {
    for (const Json& locator : locators) {
      const Json node = member(locator, "node");
      if (node.is_number_unsigned()) marked_.insert(node.get<std::uint32_t>());
    }
  }

  // What the findings point at: instances, and the operators and nodes of the shown request.
  void collect_marked(const Json& findings) {
    mark(member(findings, "instances"));
    for (const Json& request : member(findings, "requests")) {
      if (member(request, "request") != choice_.request) continue;
      for (const Json& reason : member(request, "reasons")) {
        mark(member(reason, "evidence_nodes"));
        for (const Json& op : member(reason, "operators")) mark_family(op, true);
      }
    }
    for (const Json& op : member(findings, "operators")) {
      if (member(op, "suspicious") == true) mark_family(op, false);
    }
  }

  void mark_family(const Json& op, bool owned) {
    const Json family = member(op, "family"), layer = member(op, "layer");
    if (!family.is_string() || !layer.is_string()) return;
    marked_families_.insert({family.get<std::string>(), layer.get<std::string>(), owned});
  }

  bool deviates(std::uint32_t node) {
    if (marked_.count(node) > 0) return true;
    if (marked_families_.empty()) return false;
    const bool owned = chains_.nodes.request[node] != kNoIndex;
    const auto [known, is_new] = is_marked_family_.try_emplace(
        {chains_.nodes.family[node], chains_.nodes.layer[node], owned}, false);
    if (is_new) {
      known->second =
          marked_families_.count({std::string(chains_.string(chains_.nodes.family[node])),
                                  std::string(layer_name(chains_.layer(node))), owned}) > 0;
    }
    return known->second;
  }

  // Children of all of `parents`, by (layer, family), in order of first appearance.
  std::vector<Nodes> groups_below(const Nodes& parents) const {
    std::map<std::pair<std::uint8_t, std::uint32_t>, std::size_t> places;
    std::vector<Nodes> groups;
    for (const std::uint32_t parent : parents) {
      for (const std::uint32_t child : children_[parent - first_]) {
        const auto [place, is_new] = places.try_emplace(
            {chains_.nodes.layer[child], chains_.nodes.family[child]}, groups.size());
        if (is_new) groups.emplace_back();
        groups[place->second].push_back(child);
      }
    }
    return groups;
  }

  // A tree may be a million levels deep: no recursion.
  void collect_lines() {
    struct Pending {
      Nodes group;
      std::size_t parent;
      std::uint32_t depth;
    };
    std::vector<Pending> pending;
    pending.push_back({{choice_.root}, 0, 0});
    while (!pending.empty()) {
      const Pending next = std::move(pending.back());
      pending.pop_back();
      const std::size_t own = lines_.size();
      lines_.push_back(line(next.group, next.parent, next.depth));
      std::vector<Nodes> below = groups_below(next.group);
      for (auto group = below.rbegin(); group != below.rend(); ++group) {
        pending.push_back({std::move(*group), own, next.depth + 1});
      }
    }
  }

  // Keeps the most telling lines, each with its ancestors: the longest of the lowest layer, then
  // what deviates, then by duration.
  Json shorten() {
    std::vector<std::size_t> order(lines_.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    const auto worth = [this](std::size_t i) {
      const Line& one = lines_[i];
      return std::tuple((one.flags & (kNodeFailed | kNodeOpen)) != 0, one.marked > 0, one.sum_ns);
    };
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return worth(a) > worth(b); });
    const auto lowest = std::find_if(order.begin(), order.end(), [this](std::size_t i) {
      return chains_.layer(lines_[i].node) == lowest_;
    });
    if (lowest != order.end()) std::rotate(order.begin(), lowest, lowest + 1);
    std::vector<bool> kept(lines_.size(), false);
    std::size_t room = limit_;
    for (const std::size_t i : order) {
      if (room == 0) break;
      room -= keep(i, room, kept);
    }
    return kept_lines(kept);
  }

  // The kept lines in order. Depth and what is left out are those of the tree that is shown.
  Json kept_lines(const std::vector<bool>& kept) {
    constexpr std::size_t kNone = SIZE_MAX;
    std::vector<std::size_t> above(lines_.size(), kNone);  // the nearest kept line, itself included
    std::vector<std::uint32_t> shown_depth(lines_.size(), 0);
    Json result = Json::array();
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      const std::size_t parent = i == 0 ? kNone : above[lines_[i].parent];
      above[i] = kept[i] ? i : parent;
      if (!kept[i]) continue;
      std::uint32_t skipped = 0;
      if (parent != kNone) {
        shown_depth[i] = shown_depth[parent] + 1;
        skipped = lines_[i].depth - lines_[parent].depth - 1;
      } else {
        skipped = lines_[i].depth;
      }
      result.push_back(json_of(lines_[i], shown_depth[i], skipped));
    }
    left_out_ = lines_.size() - result.size();
    return result;
  }

  // Marks line `i` and its ancestors if they fit into `room` lines; how many that took. Walks a
  // long way only if it marks something, so that all calls together are linear.
  std::size_t keep(std::size_t i, std::size_t room, std::vector<bool>& kept) const {
    std::vector<std::size_t> path;
    for (std::size_t at = i; !kept[at] && path.size() <= kLongestPath; at = lines_[at].parent) {
      path.push_back(at);
      if (at == 0) break;
    }
    if (path.size() > kLongestPath) path = ends_of_path(i, kept);
    if (path.size() > room) return 0;
    for (const std::size_t at : path) kept[at] = true;
    return path.size();
  }

  // Of a long path: the levels next to line `i`, and the root if nothing is kept yet.
  std::vector<std::size_t> ends_of_path(std::size_t i, const std::vector<bool>& kept) const {
    std::vector<std::size_t> path;
    for (std::size_t at = i; path.size() < kNearestLevels; at = lines_[at].parent) {
      path.push_back(at);
    }
    if (!kept[0]) path.push_back(0);
    return path;
  }

  Line line(const Nodes& group, std::size_t parent, std::uint32_t depth) {
    Line line;
    line.node = group.front();
    line.parent = parent;
    line.depth = depth;
    line.count = group.size();
    for (const std::uint32_t one : group) {
      line.sum_ns = saturating_add(line.sum_ns, duration(one));
      line.longest_ns = std::max(line.longest_ns, duration(one));
      line.flags |= chains_.nodes.flags[one];
      line.marked += deviates(one) ? 1 : 0;
    }
    return line;
  }

  Json json_of(const Line& line, std::uint32_t depth, std::uint32_t skipped) const {
    const double share = static_cast<double>(line.sum_ns) / static_cast<double>(whole_ns_);
    Json json;
    json["depth"] = depth;
    json["levels_left_out"] = skipped;  // between it and the line above it in the tree
    json["layer"] = layer_name(chains_.layer(line.node));
    json["family"] = chains_.string(chains_.nodes.family[line.node]);
    json["name"] = chains_.string(chains_.nodes.name[line.node]);  // of the first
    const std::string_view role = roles_.of(layer_name(chains_.layer(line.node)),
                                            chains_.string(chains_.nodes.name[line.node]));
    json["role"] = role.empty() ? Json() : Json(role);  // of the first
    json["node"] = line.node;
    json["count"] = line.count;
    json["duration_ns"] = line.sum_ns;
    json["longest_ns"] = line.longest_ns;
    json["share"] = std::floor(share * 1000) / 1000;
    json["deviating"] = line.marked;
    json["row"] = (line.flags & kNodeRow) != 0;
    json["open"] = (line.flags & kNodeOpen) != 0;
    json["failed"] = (line.flags & kNodeFailed) != 0;
    return json;
  }

  const Chains& chains_;
  const RoleNames roles_;
  const ChainChoice& choice_;
  std::size_t limit_;
  std::uint32_t first_ = 0;      // the step's root
  std::vector<Nodes> children_;  // by node - first_
  std::set<std::uint32_t> marked_;
  std::set<std::tuple<std::string, std::string, bool>> marked_families_;
  std::map<std::tuple<std::uint32_t, std::uint8_t, bool>, bool> is_marked_family_;
  std::vector<Line> lines_;  // depth first
  std::int64_t whole_ns_ = 1;
  std::size_t left_out_ = 0;
  std::size_t of_others_ = 0;
  Layer lowest_ = Layer::kStep;
};

}  // namespace

Json chain_json(const Source& source, const ChainChoice& choice) {
  if (choice.root == kNoIndex) return {};
  const Chains& chains = source.chains;
  TreeMaker maker(source, choice);
  Json json = choice.step == kNoIndex ? Json{{"step", nullptr}, {"number", nullptr}}
                                      : step_json(chains, choice.step);
  json["why"] = choice.why;
  json["request"] = nullptr;
  if (choice.request != kNoIndex) {
    json["request"] = chains.string(chains.requests.id[choice.request]);
  }
  json["begin_ns"] = chains.nodes.begin_ns[choice.root];
  json["duration_ns"] =
      saturating_sub(chains.nodes.end_ns[choice.root], chains.nodes.begin_ns[choice.root]);
  if (choice.step != kNoIndex) {
    json["device_busy_ns"] = chains.steps.device_busy_ns[choice.step];
    json["tokens"] = chains.steps.tokens[choice.step];
    json["kv_free"] = chains.steps.kv_free[choice.step];
    json["kv_total"] = chains.steps.kv_total[choice.step];
    json["open"] = chains.steps.open[choice.step] != 0;
  }
  json["tree"] = maker.make();
  json["lowest_layer"] = layer_name(maker.lowest());
  json["lines_left_out"] = maker.left_out();
  json["nodes_of_other_requests"] = maker.of_others();
  return json;
}

}  // namespace teller::report_detail
