// Writes the trees as nodes in preorder: one tree per step, one per process for what lies outside.
#include <algorithm>
#include <map>
#include <utility>

#include "base/huge_pages.h"
#include "reconstruct/family.h"
#include "reconstruct/item_order.h"
#include "reconstruct/passes.h"

namespace teller {

namespace {

// Children of every item, in tree order: children_[first_[i], first_[i + 1]) are those of item i.
class ChildLists {
 public:
  explicit ChildLists(const Workspace& work) : work_(work), items_(work.items) {
    reserve_huge(first_, items_.size() + 2);
    first_.assign(items_.size() + 2, 0);
    for (const Item& item : items_) {
      if (is_child(item)) ++first_[item.parent + 2];
    }
    for (std::size_t i = 2; i < first_.size(); ++i) first_[i] += first_[i - 1];
    reserve_huge(children_, first_.back());
    children_.resize(first_.back());
    for (const std::uint32_t index : work.order) add(index);
    for (std::uint32_t index = 0; index < items_.size(); ++index) {
      const ItemKind kind = items_[index].kind;
      const bool off_thread = kind == ItemKind::kDevice || kind == ItemKind::kInFlight;
      if (off_thread || kind == ItemKind::kRow) add(index);
    }
    sort();
  }

  const std::uint32_t* begin(std::uint32_t item) const { return children_.data() + first_[item]; }
  const std::uint32_t* end(std::uint32_t item) const { return children_.data() + first_[item + 1]; }

 private:
  // A step's root leaves what stands above it on its thread, to head a tree of its own.
  static bool is_child(const Item& item) {
    return item.parent != kNoIndex && (item.marks & (kDropped | kStepRoot)) == 0;
  }

  // first_[i + 1] runs from the begin of i's list to its end while lists are filled.
  void add(std::uint32_t index) {
    const Item& item = items_[index];
    if (is_child(item)) children_[first_[item.parent + 1]++] = index;
  }

  void sort() {
    const TreeOrder before{work_};
    for (std::size_t item = 0; item < items_.size(); ++item) {
      const auto from = children_.begin() + first_[item];
      const auto to = children_.begin() + first_[item + 1];
      if (to - from > 1 && !std::is_sorted(from, to, before)) std::sort(from, to, before);
    }
  }

  const Workspace& work_;
  const std::vector<Item>& items_;
  std::vector<std::uint32_t> first_;
  std::vector<std::uint32_t> children_;
};

// A process that has something outside any step.
struct Outside {
  std::int64_t begin_ns = std::numeric_limits<std::int64_t>::max();
  std::int64_t end_ns = std::numeric_limits<std::int64_t>::min();
  std::vector<std::uint32_t> roots;
};

class NodeWriter {
 public:
  explicit NodeWriter(Workspace& work)
      : work_(work),
        nodes_(work.chains.nodes),
        children_(work),
        process_of_source_(processes_of_sources(work)) {
    reserve_huge(node_of_, work.items.size());
    node_of_.assign(work.items.size(), kNoIndex);
    // One root more for each process at most, of which there are few.
    visit_columns(work.chains, [&](std::string_view table, std::string_view, auto& column) {
      if (table == "nodes") reserve_huge(column, work.items.size() + work.threads.size());
    });
  }

  void write_step(std::uint32_t step, std::uint32_t root) {
    const std::uint32_t first = next_node();
    write_tree(root, kNoIndex, step);
    auto& steps = work_.chains.steps;
    steps.root.push_back(first);
    steps.node_count.push_back(next_node() - first);
    measure_step(first);
  }

  void write_outside() {
    for (auto& [process, outside] : find_outside()) {
      const std::uint32_t root = next_node();
      push_node(kNoIndex, kNoIndex, outside.begin_ns, outside.end_ns, process.first);
      nodes_.name.back() =
          work_.chains.strings.intern("outside pid " + std::to_string(process.second));
      nodes_.family.back() = work_.chains.strings.intern("outside");
      nodes_.flags.back() = kNodeSynthetic;
      nodes_.layer.back() = static_cast<std::uint8_t>(Layer::kFrontEnd);
      for (const std::uint32_t item : outside.roots) write_tree(item, root, kNoIndex);
    }
  }

  std::uint32_t node_of(std::uint32_t item) const { return node_of_[item]; }
  std::uint64_t items_written() const { return items_written_; }

 private:
  struct Pending {
    std::uint32_t item;
    std::uint32_t parent;  // node
  };

  std::uint32_t next_node() const { return static_cast<std::uint32_t>(nodes_.parent.size()); }

  void write_tree(std::uint32_t root, std::uint32_t parent, std::uint32_t step) {
    pending_.assign(1, {root, parent});
    while (!pending_.empty()) {
      const Pending now = pending_.back();
      pending_.pop_back();
      const std::uint32_t node = next_node();
      write_item(now.item, now.parent, step);
      const std::uint32_t* const begin = children_.begin(now.item);
      for (const std::uint32_t* at = children_.end(now.item); at != begin;) {
        pending_.push_back({*--at, node});
      }
    }
  }

  void push_node(std::uint32_t parent, std::uint32_t step, std::int64_t begin, std::int64_t end,
                 std::uint16_t source) {
    nodes_.parent.push_back(parent);
    nodes_.step.push_back(step);
    nodes_.name.push_back(0);
    nodes_.family.push_back(0);
    nodes_.track.push_back(kNoIndex);
    nodes_.request.push_back(parent == kNoIndex ? kNoIndex : nodes_.request[parent]);
    nodes_.begin_ns.push_back(begin);
    nodes_.end_ns.push_back(end);
    nodes_.value.push_back(0);
    nodes_.source.push_back(source);
    nodes_.flags.push_back(0);
    nodes_.layer.push_back(0);
  }

  void write_item(std::uint32_t index, std::uint32_t parent, std::uint32_t step) {
    const Item& item = work_.items[index];
    node_of_[index] = next_node();
    ++items_written_;
    push_node(parent, step, item.begin_ns, item.end_ns, item.source);
    nodes_.track.back() = item.track;
    nodes_.flags.back() = item.flags;
    nodes_.layer.back() = static_cast<std::uint8_t>(item.layer);
    if (item.kind == ItemKind::kRow) {
      const auto phase = static_cast<RowPhase>(item.detail);
      const std::string name = "row:" + std::string(row_phase_name(phase));
      nodes_.name.back() = nodes_.family.back() = work_.chains.strings.intern(name);
      if (const auto reason = work_.wait_reasons.find(index); reason != work_.wait_reasons.end()) {
        nodes_.name.back() = work_.chains.strings.intern(name + " (" + reason->second + ")");
      }
      return;  // add_rows() knows its request; set below
    }
    if (item.kind == ItemKind::kInFlight) return name_in_flight(index);
    if (item.kind == ItemKind::kStep) {
      nodes_.name.back() = nodes_.family.back() = work_.chains.strings.intern("step");
      return;
    }
    const NameFacts& facts = name_facts(work_, item.source, item.event->name);
    nodes_.name.back() = facts.name;
    nodes_.family.back() = facts.family;
    if (facts.request != kNoIndex) nodes_.request.back() = facts.request;
    const bool valued = item.layer == Layer::kRuntime || item.kind == ItemKind::kDevice;
    if (valued) nodes_.value.back() = item.event->value;
  }

  // A launch seldom tells what it launched.
  void name_in_flight(std::uint32_t index) {
    const std::string& known = work_.in_flight_names.at(index);
    const bool graph = (work_.items[index].flags & kNodeGraph) != 0;
    const std::string name = known.empty() ? graph ? "graph in flight" : "kernel in flight" : known;
    nodes_.name.back() = work_.chains.strings.intern(name);
    nodes_.family.back() = work_.chains.strings.intern(known.empty() ? name : family_of(known));
  }

  void measure_step(std::uint32_t first) {
    std::int64_t last = nodes_.end_ns[first];
    busy_.clear();
    for (std::uint32_t node = first; node < next_node(); ++node) {
      last = std::max(last, nodes_.end_ns[node]);
      // Work in flight may still wait for its turn.
      const bool in_flight = (nodes_.flags[node] & kNodeSynthetic) != 0;
      if (nodes_.layer[node] != static_cast<std::uint8_t>(Layer::kKernel) || in_flight) continue;
      busy_.emplace_back(nodes_.begin_ns[node], nodes_.end_ns[node]);
    }
    std::sort(busy_.begin(), busy_.end());
    std::int64_t total = 0;
    std::int64_t covered = std::numeric_limits<std::int64_t>::min();
    for (const auto& [begin, end] : busy_) {
      if (end <= covered) continue;
      total += end - std::max(begin, covered);
      covered = end;
    }
    work_.chains.steps.last_ns.push_back(last);
    work_.chains.steps.device_busy_ns.push_back(total);
  }

  // Roots outside steps by (source, process), in tree order.
  std::map<std::pair<std::uint16_t, std::int64_t>, Outside> find_outside() const {
    std::map<std::pair<std::uint16_t, std::int64_t>, Outside> processes;
    for (std::uint32_t index = 0; index < work_.items.size(); ++index) {
      const Item& item = work_.items[index];
      if (item.parent != kNoIndex || (item.marks & (kDropped | kStepRoot)) != 0) continue;
      Outside& outside = processes[{item.source, process_of(item)}];
      outside.begin_ns = std::min(outside.begin_ns, item.begin_ns);
      outside.end_ns = std::max(outside.end_ns, item.end_ns);
      outside.roots.push_back(index);
    }
    for (auto& [process, outside] : processes) {
      std::sort(outside.roots.begin(), outside.roots.end(), TreeOrder{work_});
    }
    return processes;
  }

  // Kineto's device rows name no process (on ROCm they hold the device's number): theirs is the
  // process of the file.
  std::int64_t process_of(const Item& item) const {
    const Thread& thread = work_.threads[work_.thread_of_track[item.track]];
    const bool own = thread.host || work_.sources[item.source].dialect != "kineto";
    return own ? thread.pid : process_of_source_[item.source];
  }

  // The process of a source's thread that has most items, else the one that its META names.
  static std::vector<std::int64_t> processes_of_sources(const Workspace& work) {
    std::vector<std::int64_t> processes;
    for (const Source& source : work.sources) processes.push_back(source.pid);
    std::vector<std::uint32_t> most(processes.size(), 0);
    for (const Thread& thread : work.threads) {
      if (!thread.host || thread.count <= most[thread.source]) continue;
      most[thread.source] = thread.count;
      processes[thread.source] = thread.pid;
    }
    return processes;
  }

  Workspace& work_;
  NodeColumns<OwnedColumn>& nodes_;
  ChildLists children_;
  std::vector<std::uint32_t> node_of_;           // by item
  std::vector<std::int64_t> process_of_source_;  // whose device rows name none
  std::vector<Pending> pending_;
  std::vector<std::pair<std::int64_t, std::int64_t>> busy_;
  std::uint64_t items_written_ = 0;
};

// Rows were made before nodes: their `node` column holds items until here.
void finish_rows(Workspace& work, const NodeWriter& writer) {
  auto& rows = work.chains.rows;
  for (std::size_t row = 0; row < rows.node.size(); ++row) {
    rows.node[row] = writer.node_of(rows.node[row]);
    work.chains.nodes.request[rows.node[row]] = rows.request[row];
  }
}

}  // namespace

Status write_nodes(Workspace& work, const StepRoots& steps) {
  NodeWriter writer(work);
  for (std::uint32_t step = 0; step < steps.items.size(); ++step) {
    writer.write_step(step, steps.items[step]);
  }
  writer.write_outside();
  std::uint64_t expected = 0;
  for (const Item& item : work.items) expected += (item.marks & kDropped) == 0 ? 1 : 0;
  if (writer.items_written() != expected) {
    return Error{ErrorCode::kInternal,
                 "reconstructing: " + std::to_string(expected) + " nodes were made, " +
                     std::to_string(writer.items_written()) + " were placed",
                 "please report it"};
  }
  for (const std::uint32_t schedule : steps.schedules) {
    work.chains.steps.schedule.push_back(writer.node_of(schedule));
  }
  finish_rows(work, writer);
  return {};
}

}  // namespace teller
