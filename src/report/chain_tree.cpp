// The chain of one step as a tree for people: siblings of one family are one line.
#include <algorithm>
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
    const std::uint32_t root = chains_.steps.root[choice_.step];
    whole_ns_ = std::max<std::int64_t>(end_of(root) - chains_.nodes.begin_ns[root], 1);
    add({root}, 0);
    return std::move(lines_);
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

  void collect_children() {
    first_ = chains_.steps.root[choice_.step];
    const std::uint32_t count = chains_.steps.node_count[choice_.step];
    children_.resize(count);
    for (std::uint32_t node = first_ + 1; node < first_ + count; ++node) {
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
    std::vector<std::pair<std::pair<std::uint8_t, std::uint32_t>, Nodes>> groups;
    for (const std::uint32_t parent : parents) {
      for (const std::uint32_t child : children_[parent - first_]) {
        const std::pair key{chains_.nodes.layer[child], chains_.nodes.family[child]};
        auto found = std::find_if(groups.begin(), groups.end(),
                                  [&key](const auto& group) { return group.first == key; });
        if (found == groups.end()) found = groups.insert(groups.end(), {key, {}});
        found->second.push_back(child);
      }
    }
    std::vector<Nodes> list;
    for (auto& group : groups) list.push_back(std::move(group.second));
    return list;
  }

  void add(const Nodes& group, int depth) {
    if (lines_.size() >= limit_) {
      ++left_out_;
    } else {
      lines_.push_back(line(group, depth));
    }
    for (const Nodes& below : groups_below(group)) add(below, depth + 1);
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
  Json lines_ = Json::array();
  std::int64_t whole_ns_ = 1;
  std::size_t left_out_ = 0;
  std::size_t of_others_ = 0;
  Layer lowest_ = Layer::kStep;
};

}  // namespace

Json chain_json(const Source& source, const ChainChoice& choice) {
  if (choice.step == kNoIndex) return {};
  const Chains& chains = source.chains;
  TreeMaker maker(source, choice);
  Json json = step_json(chains, choice.step);
  json["why"] = choice.why;
  json["request"] = nullptr;
  if (choice.request != kNoIndex) {
    json["request"] = chains.string(chains.requests.id[choice.request]);
  }
  json["begin_ns"] = chains.steps.begin_ns[choice.step];
  json["duration_ns"] = chains.steps.end_ns[choice.step] - chains.steps.begin_ns[choice.step];
  json["device_busy_ns"] = chains.steps.device_busy_ns[choice.step];
  json["tokens"] = chains.steps.tokens[choice.step];
  json["kv_free"] = chains.steps.kv_free[choice.step];
  json["kv_total"] = chains.steps.kv_total[choice.step];
  json["open"] = chains.steps.open[choice.step] != 0;
  json["tree"] = maker.make();
  json["lowest_layer"] = layer_name(maker.lowest());
  json["lines_left_out"] = maker.left_out();
  json["nodes_of_other_requests"] = maker.of_others();
  return json;
}

}  // namespace teller::report_detail
