#include "horizontal/operations.h"

#include <algorithm>
#include <map>

#include "horizontal/node_facts.h"

namespace teller::horizontal_detail {

namespace {

using FactMap = std::unordered_map<std::uint32_t, NodeFacts>;

class Finder {
 public:
  Finder(const Chains& chains, const FactMap& facts) : chains_(chains), facts_(facts) {}

  Operations find() {
    lay_out_ranks();
    find_device_users();
    loose_.resize(chains_.source_count());
    above_.assign(chains_.node_count(), kNoIndex);
    for (std::uint32_t node = 0; node < chains_.node_count(); ++node) see(node);
    flush();
    for (Loose& loose : loose_) tie(loose);
    for (RankOperations& rank : found_.ranks) {
      std::stable_sort(
          rank.list.begin(), rank.list.end(), [](const Operation& a, const Operation& b) {
            return a.begin_ns != b.begin_ns ? a.begin_ns < b.begin_ns : a.node < b.node;
          });
    }
    return std::move(found_);
  }

 private:
  void lay_out_ranks() {
    SourceRanks ranks = find_source_ranks(chains_, facts_);
    found_.shared = std::move(ranks.shared);
    std::map<std::int32_t, std::vector<std::uint16_t>> sources;
    for (std::size_t i = 0; i < ranks.of.size(); ++i) {
      if (ranks.of[i].rank >= 0) sources[ranks.of[i].rank].push_back(static_cast<std::uint16_t>(i));
    }
    index_.assign(chains_.source_count(), kNoIndex);
    for (auto& [rank, list] : sources) {
      RankOperations one;
      one.rank = rank;
      one.numbered = ranks.of[list[0]].numbered;
      one.rank_from = ranks.of[list[0]].from;
      one.name = one.numbered ? "rank " + std::to_string(rank) : process_name(list[0]);
      one.host = std::string(chains_.host_of_source(list[0]));
      for (const std::uint16_t source : list) {
        if (chains_.host_of_source(source) != one.host) one.host.clear();
        index_[source] = static_cast<std::uint32_t>(found_.ranks.size());
      }
      one.sources = std::move(list);
      found_.ranks.push_back(std::move(one));
    }
  }

  std::string process_name(std::uint16_t source) const {
    return "the rank of " +
           std::string(chains_.string(chains_.sources.name[source]).substr(0, 200));
  }

  bool is_collective(std::uint32_t node) const {
    return (chains_.nodes.flags[node] & kNodeCollective) != 0;
  }
  bool on_device(std::uint32_t node) const { return chains_.layer(node) == Layer::kKernel; }
  std::string_view name(std::uint32_t node) const {
    return chains_.string(chains_.nodes.name[node]);
  }

  void find_device_users() {
    has_kernels_.assign(chains_.source_count(), false);
    for (std::uint32_t node = 0; node < chains_.node_count(); ++node) {
      if (is_collective(node) && on_device(node)) has_kernels_[chains_.nodes.source[node]] = true;
    }
  }

  // Nodes stand in preorder: the parts of a call follow it.
  void see(std::uint32_t node) {
    note_life(node);
    const std::uint32_t parent = chains_.nodes.parent[node];
    const std::uint32_t call = parent == kNoIndex ? kNoIndex : above_[parent];
    above_[node] = call;
    if (!is_collective(node)) return;
    if (call == kNoIndex) {
      flush();
      if (on_device(node)) return add(node, kNoIndex);
      above_[node] = call_ = node;
    } else {
      parts_.push_back(node);
    }
  }

  void note_life(std::uint32_t node) {
    const std::uint32_t index = index_[chains_.nodes.source[node]];
    if (index == kNoIndex || (chains_.nodes.flags[node] & kNodeSynthetic) != 0) return;
    RankOperations& rank = found_.ranks[index];
    const std::int64_t begin = chains_.nodes.begin_ns[node], end = chains_.nodes.end_ns[node];
    rank.first_ns = rank.has_events ? std::min(rank.first_ns, begin) : begin;
    rank.last_ns = rank.has_events ? std::max(rank.last_ns, end) : end;
    rank.has_events = true;
  }

  static bool is_annotation(std::string_view name) {
    return name.starts_with("gloo:") || name.starts_with("nccl:");
  }

  // Ends the call that is open: its kernels are operations, else its backend's ranges, else itself.
  void flush() {
    if (call_ == kNoIndex) return;
    const std::uint32_t call = call_;
    call_ = kNoIndex;
    std::vector<std::uint32_t> kernels, ranges;
    for (const std::uint32_t part : parts_) {
      if (on_device(part))
        kernels.push_back(part);
      else if (is_annotation(name(part)))
        ranges.push_back(part);
    }
    for (const std::uint32_t node : kernels) add(node, call);
    if (kernels.empty()) add_host(call, ranges);
    parts_.clear();
  }

  void add_host(std::uint32_t call, const std::vector<std::uint32_t>& ranges) {
    const bool nccl = name(call).starts_with("nccl:") ||
                      std::any_of(ranges.begin(), ranges.end(), [this](std::uint32_t node) {
                        return name(node).starts_with("nccl:");
                      });
    if (nccl && has_kernels_[chains_.nodes.source[call]]) {
      ++found_.without_kernel;
    } else if (!ranges.empty()) {
      for (const std::uint32_t node : ranges) add(node, call);
    } else if (is_annotation(name(call))) {
      loose_[chains_.nodes.source[call]].ranges.push_back({call, merged_facts(call, call)});
    } else {
      loose_[chains_.nodes.source[call]].calls.push_back({call, merged_facts(call, call)});
    }
  }

  // A call or range, and what it holds besides itself.
  struct Call {
    std::uint32_t node = 0;
    CollectiveFacts facts;
  };
  // Calls without a backend's range in them, and ranges outside of every call: gloo runs what a
  // call asks for on threads of its own.
  struct Loose {
    std::vector<Call> calls;
    std::vector<Call> ranges;
  };

  // Gloo's threads take operations in the order in which they were asked for: a range belongs to
  // the earliest call that has none yet. A call without a range then is none whose end is known.
  void tie(Loose& loose) {
    const auto earlier = [this](std::uint32_t a, std::uint32_t b) {
      const auto& begin = chains_.nodes.begin_ns;
      return begin[a] != begin[b] ? begin[a] < begin[b] : a < b;
    };
    std::erase_if(loose.calls, [this](const Call& call) {
      const bool none = !is_transfer(call.facts.operation);
      found_.waits += none ? 1 : 0;
      return none;
    });
    std::sort(loose.calls.begin(), loose.calls.end(),
              [&](const Call& a, const Call& b) { return earlier(a.node, b.node); });
    std::sort(loose.ranges.begin(), loose.ranges.end(),
              [&](const Call& a, const Call& b) { return earlier(a.node, b.node); });
    std::size_t next = 0;
    for (const Call& range : loose.ranges) {
      const bool asked = next < loose.calls.size() && !earlier(range.node, loose.calls[next].node);
      if (asked) {
        add_tied(loose.calls[next++], range);
      } else {
        put(range.node, range.node, range.facts);
      }
    }
    for (; next < loose.calls.size(); ++next) {
      const Call& call = loose.calls[next];
      // One stray range says nothing of the calls.
      if (2 * loose.ranges.size() >= loose.calls.size())
        ++found_.without_kernel;
      else
        put(call.node, call.node, call.facts);
    }
  }

  // The rank has come when it calls; the operation is over when its range ends.
  void add_tied(const Call& call, const Call& range) {
    CollectiveFacts facts = call.facts;
    facts.fill_from(range.facts);
    Operation* one = put(call.node, call.node, facts);
    if (one == nullptr) return;
    one->end_ns = std::max(facts_.at(range.node).end_ns, one->begin_ns);
    one->open = (chains_.nodes.flags[range.node] & kNodeOpen) != 0;
  }

  // Its own facts, then those of the ranges around it, then of what else the call holds.
  CollectiveFacts merged_facts(std::uint32_t node, std::uint32_t call) const {
    CollectiveFacts facts = facts_.at(node).facts;
    // All-to-all and the like have no kernel of their own: the range around it knows better.
    if (facts.operation == "send_recv") facts.operation.clear();
    for (std::uint32_t at = node; at != call && call != kNoIndex;) {
      at = chains_.nodes.parent[at];
      if (at == kNoIndex) break;
      if (is_collective(at)) facts.fill_from(facts_.at(at).facts);
    }
    for (const std::uint32_t part : parts_) {
      if (!on_device(part)) facts.fill_from(facts_.at(part).facts);
    }
    if (facts.operation.empty()) facts.operation = facts_.at(node).facts.operation;
    return facts;
  }

  void add(std::uint32_t node, std::uint32_t call) { put(node, call, merged_facts(node, call)); }

  // Null where the source has no rank or it is no operation.
  Operation* put(std::uint32_t node, std::uint32_t call, const CollectiveFacts& facts) {
    const std::uint32_t index = index_[chains_.nodes.source[node]];
    if (index == kNoIndex) {
      ++found_.without_rank;
      return nullptr;
    }
    if (!on_device(node) && !is_transfer(facts.operation)) {
      ++found_.waits;
      return nullptr;
    }
    Operation one;
    one.node = node;
    one.call = call;
    one.operation = found_.texts.intern(facts.operation);
    one.wire = on_device(node) ? found_.texts.intern(operation_of(name(node))) : one.operation;
    one.group = group_of(facts);
    one.sequence = facts.sequence;
    one.bytes = facts.bytes;
    one.size_is_sure = facts.bytes >= 0 && facts.both_sizes;
    one.begin_ns = chains_.nodes.begin_ns[node];
    one.end_ns = std::max(facts_.at(node).end_ns, one.begin_ns);
    set_peers(facts, found_.ranks[index], one);
    one.device = on_device(node);
    one.open = (chains_.nodes.flags[node] & kNodeOpen) != 0;
    found_.ranks[index].list.push_back(one);
    return &found_.ranks[index].list.back();
  }

  // A send is recorded with the rank that it goes to, a receive with the one that it comes from:
  // the other end is the rank itself. Of a group of two it is known anyway.
  static void set_peers(const CollectiveFacts& facts, const RankOperations& rank, Operation& one) {
    one.from = facts.from;
    one.to = facts.to;
    if (!rank.numbered || !is_point_to_point(facts.operation)) return;
    int& self = facts.operation == "send" ? one.from : one.to;
    int& other = facts.operation == "send" ? one.to : one.from;
    if (self < 0) self = rank.rank;
    if (other >= 0 || facts.ranks.size() != 2) return;
    if (facts.ranks[0] == rank.rank) other = facts.ranks[1];
    if (facts.ranks[1] == rank.rank) other = facts.ranks[0];
  }

  // Groups of one name may hold different ranks on different ranks (one group per pipeline stage).
  std::uint32_t group_of(const CollectiveFacts& facts) {
    const std::string text =
        facts.ranks_text.empty() ? facts.group : facts.group + " " + facts.ranks_text;
    const std::uint32_t id = found_.texts.intern(text);
    if (id >= found_.group_ranks.size()) found_.group_ranks.resize(id + 1);
    if (found_.group_ranks[id].empty()) found_.group_ranks[id] = facts.ranks;
    return id;
  }

  const Chains& chains_;
  const FactMap& facts_;
  Operations found_;
  std::vector<std::uint32_t> index_;  // by source: its rank's place
  std::vector<bool> has_kernels_;     // by source
  std::vector<Loose> loose_;          // by source
  std::vector<std::uint32_t>
      above_;                      // by node: the outermost collective range around it, or itself
  std::uint32_t call_ = kNoIndex;  // the call whose parts are being read
  std::vector<std::uint32_t> parts_;
};

}  // namespace

std::size_t Operations::count() const {
  std::size_t sum = 0;
  for (const RankOperations& rank : ranks) sum += rank.list.size();
  return sum;
}

Result<Operations> find_operations(const RunFolder& run, const Chains& chains) {
  TELLER_TRY(const FactMap facts, read_node_facts(run, chains));
  return Finder(chains, facts).find();
}

}  // namespace teller::horizontal_detail
