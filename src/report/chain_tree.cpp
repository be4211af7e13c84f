// The chain of one step as a tree for people: siblings of one family are one line.
#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "report/document.h"

namespace teller::report_detail {
namespace {

using Nodes = std::vector<std::uint32_t>;

class TreeMaker {
 public:
  TreeMaker(const Source& source, const ChainChoice& choice)
      : chains_(source.chains), choice_(choice), limit_(source.options.max_chain_lines) {
    collect_children();
    collect_marked(source.findings);
  }

  Json make() {
    const std::uint32_t root = choice_.root;
    whole_ns_ = std::max<std::int64_t>(end_of(root) - chains_.nodes.begin_ns[root], 1);
    add({root}, 0, 0);
    return shorten();
  }
  std::size_t left_out() const { return left_out_; }
  std::size_t of_others() const { return of_others_; }
  Layer lowest() const { return lowest_; }

 private:
  std::int64_t end_of(std::uint32_t node) const { return chains_.nodes.end_ns[node]; }

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

  bool deviates(std::uint32_t node) const {
    if (marked_.count(node) > 0) return true;
    const bool owned = chains_.nodes.request[node] != kNoIndex;
    return marked_families_.count({std::string(chains_.string(chains_.nodes.family[node])),
                                   std::string(layer_name(chains_.layer(node))), owned}) > 0;
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

  void add(const Nodes& group, int depth, std::size_t parent) {
    const std::size_t own = lines_.size();
    lines_.push_back(line(group, depth));
    parents_.push_back(parent);
    for (const Nodes& below : groups_below(group)) add(below, depth + 1, own);
  }

  // Keeps the most telling lines, each with its ancestors: the longest of the lowest layer, then
  // what deviates, then by duration.
  Json shorten() {
    std::vector<std::size_t> order(lines_.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    const auto worth = [this](std::size_t i) {
      const Json& one = lines_[i];
      return std::tuple(one["failed"] == true || one["open"] == true, one["deviating"] > 0,
                        one["duration_ns"].get<std::int64_t>());
    };
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return worth(a) > worth(b); });
    const auto lowest = std::find_if(order.begin(), order.end(), [this](std::size_t i) {
      return lines_[i]["layer"] == layer_name(lowest_);
    });
    if (lowest != order.end()) std::rotate(order.begin(), lowest, lowest + 1);
    std::vector<bool> kept(lines_.size(), false);
    std::size_t room = limit_;
    for (const std::size_t i : order) room -= std::min(room, keep(i, room, kept));
    Json result = Json::array();
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      if (kept[i]) result.push_back(std::move(lines_[i]));
    }
    left_out_ = lines_.size() - result.size();
    return result;
  }

  // Marks line `i` and its ancestors if they fit into `room` lines; how many that took.
  std::size_t keep(std::size_t i, std::size_t room, std::vector<bool>& kept) const {
    std::vector<std::size_t> path;
    for (std::size_t at = i; !kept[at]; at = parents_[at]) {
      path.push_back(at);
      if (at == 0) break;
    }
    if (path.size() > room) return 0;
    for (const std::size_t at : path) kept[at] = true;
    return path.size();
  }

  Json line(const Nodes& group, int depth) const {
    const std::uint32_t node = group.front();
    std::int64_t sum = 0, longest = 0;
    std::uint16_t flags = 0;
    std::size_t marked = 0;
    for (const std::uint32_t one : group) {
      const std::int64_t lasted = end_of(one) - chains_.nodes.begin_ns[one];
      sum += lasted;
      longest = std::max(longest, lasted);
      flags |= chains_.nodes.flags[one];
      marked += deviates(one) ? 1 : 0;
    }
    Json json;
    json["depth"] = depth;
    json["layer"] = layer_name(chains_.layer(node));
    json["family"] = chains_.string(chains_.nodes.family[node]);
    json["name"] = chains_.string(chains_.nodes.name[node]);  // of the first
    json["node"] = node;
    json["count"] = group.size();
    json["duration_ns"] = sum;
    json["longest_ns"] = longest;
    json["share"] = static_cast<double>(sum * 1000 / whole_ns_) / 1000;
    json["deviating"] = marked;
    json["row"] = (flags & kNodeRow) != 0;
    json["open"] = (flags & kNodeOpen) != 0;
    json["failed"] = (flags & kNodeFailed) != 0;
    return json;
  }

  const Chains& chains_;
  const ChainChoice& choice_;
  std::size_t limit_;
  std::uint32_t first_ = 0;      // the step's root
  std::vector<Nodes> children_;  // by node - first_
  std::set<std::uint32_t> marked_;
  std::set<std::tuple<std::string, std::string, bool>> marked_families_;
  std::vector<Json> lines_;           // depth first
  std::vector<std::size_t> parents_;  // of each line; the root is its own
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
  json["duration_ns"] = chains.nodes.end_ns[choice.root] - chains.nodes.begin_ns[choice.root];
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
