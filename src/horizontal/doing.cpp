#include "horizontal/doing.h"

#include <algorithm>
#include <initializer_list>
#include <map>
#include <set>
#include <string_view>
#include <tuple>

namespace teller::horizontal_detail {

namespace {

constexpr std::size_t kMostCases = 64;
// A cause must explain this much of the lateness to be named.
constexpr double kLeastShare = 0.3;

struct Window {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
};

bool has_any(std::string_view text, std::initializer_list<std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(), [text](std::string_view part) {
    return text.find(part) != std::string_view::npos;
  });
}

// Where time went: purpose and name (string of the chains).
using Place = std::pair<Doing, std::uint32_t>;
using Times = std::map<Place, double>;

// The time of some sources' nodes inside windows, by what they are for. Each instant of a thread
// belongs to its innermost node, and that to the nearest node around it whose name tells a purpose.
class TimeTaker {
 public:
  TimeTaker(const Chains& chains, std::vector<Window> windows, bool on_device)
      : chains_(chains), windows_(std::move(windows)), on_device_(on_device) {
    std::sort(windows_.begin(), windows_.end(),
              [](const Window& a, const Window& b) { return a.begin_ns < b.begin_ns; });
    // Windows of one rank overlap where operations do: their union is looked at.
    std::vector<Window> merged;
    for (const Window& one : windows_) {
      if (!merged.empty() && one.begin_ns <= merged.back().end_ns) {
        merged.back().end_ns = std::max(merged.back().end_ns, one.end_ns);
      } else {
        merged.push_back(one);
      }
    }
    windows_ = std::move(merged);
    for (const Window& one : windows_) whole_ += static_cast<double>(one.end_ns - one.begin_ns);
  }

  // Nodes of one thread or stream in tree order.
  void thread(const std::vector<std::uint32_t>& nodes) {
    at_ = 0;
    stack_.clear();
    for (const std::uint32_t node : nodes) {
      const std::int64_t begin = chains_.nodes.begin_ns[node];
      while (!stack_.empty() && end_of(stack_.back()) <= begin) pop();
      if (!stack_.empty()) spend(begin);
      from_ = stack_.empty() ? begin : std::max(from_, begin);
      stack_.push_back(node);
    }
    while (!stack_.empty()) pop();
  }

  // What nothing covers, but for the time of nested threads, is the interpreter's own.
  Times take() {
    if (!on_device_) times_[{Doing::kNothing, 0}] += std::max(whole_ - covered_, 0.0);
    return std::move(times_);
  }

 private:
  std::int64_t end_of(std::uint32_t node) const { return chains_.nodes.end_ns[node]; }

  void pop() {
    spend(end_of(stack_.back()));
    from_ = std::max(from_, end_of(stack_.back()));
    stack_.pop_back();
  }

  // Gives [from_, to) to the innermost node.
  void spend(std::int64_t to) {
    if (to <= from_) return;
    while (at_ < windows_.size() && windows_[at_].end_ns <= from_) ++at_;
    double inside = 0;
    for (std::size_t i = at_; i < windows_.size() && windows_[i].begin_ns < to; ++i) {
      inside += static_cast<double>(std::min(to, windows_[i].end_ns) -
                                    std::max(from_, windows_[i].begin_ns));
    }
    const Place place = place_of_stack();
    if (inside > 0 && place.first != Doing::kNothing) {
      times_[place] += inside;
      covered_ += inside;
    }
    from_ = to;
  }

  Place place_of_stack() const {
    for (auto it = stack_.rbegin(); it != stack_.rend(); ++it) {
      const std::uint32_t name = chains_.nodes.name[*it];
      const Doing doing = doing_of_name(chains_.string(name));
      if (doing != Doing::kUnknown) return {doing, name};
    }
    const std::uint32_t inner = stack_.back();
    if (on_device_) return {Doing::kDevice, chains_.nodes.family[inner]};
    switch (chains_.layer(inner)) {
      case Layer::kBackEnd:
      case Layer::kRuntime:
        return {Doing::kCompute, chains_.nodes.family[inner]};
      case Layer::kStep:
        return {Doing::kNothing, 0};
      default:
        break;
    }
    // Annotations and functions: their own time is Python's.
    return {Doing::kPython, chains_.nodes.name[inner]};
  }

  const Chains& chains_;
  std::vector<Window> windows_;
  bool on_device_;
  double whole_ = 0;
  double covered_ = 0;
  Times times_;
  std::vector<std::uint32_t> stack_;
  std::int64_t from_ = 0;
  std::size_t at_ = 0;
};

class PeerComparison {
 public:
  PeerComparison(const Chains& chains, const Operations& operations, const Matching& matching,
                 const Lateness& lateness, std::uint32_t rank)
      : chains_(chains),
        operations_(operations),
        matching_(matching),
        lateness_(lateness),
        rank_(rank) {}

  DoingFound run() {
    choose_cases();
    DoingFound found;
    found.cases = cases_.size();
    if (cases_.empty()) return found;
    const Times own = times_of(rank_);
    std::set<std::uint32_t> peers;
    for (const LateCase& one : cases_) {
      for (const Member& member : matching_.collectives[one.collective].members) {
        if (member.rank != rank_) peers.insert(member.rank);
      }
    }
    Times usual;
    for (const std::uint32_t peer : peers) {
      for (const auto& [place, ns] : times_of(peer)) {
        usual[place] += ns / static_cast<double>(peers.size());
      }
    }
    return judge(own, usual);
  }

 private:
  void choose_cases() {
    cases_ = lateness_.cases[rank_];
    std::sort(cases_.begin(), cases_.end(), [](const LateCase& a, const LateCase& b) {
      return a.late_ns != b.late_ns ? a.late_ns > b.late_ns : a.collective < b.collective;
    });
    if (cases_.size() > kMostCases) cases_.resize(kMostCases);
    // The small ones are scatter.
    while (!cases_.empty() && cases_.back().late_ns < 0.1 * cases_[0].late_ns) cases_.pop_back();
    for (const LateCase& one : cases_) late_ns_ += one.late_ns;
  }

  // Where a rank came from to each of the cases, and on which threads and streams.
  Times times_of(std::uint32_t rank) const {
    std::vector<Window> windows;
    bool device = false;
    for (const LateCase& one : cases_) {
      for (const Member& member : matching_.collectives[one.collective].members) {
        if (member.rank != rank) continue;
        const Operation& op = operations_.ranks[rank].list[member.at];
        const auto own = static_cast<std::int64_t>(lateness_.own_ns[rank][member.at]);
        if (own > 0) windows.push_back({op.begin_ns - own, op.begin_ns});
        device = device || op.device;
      }
    }
    TimeTaker host(chains_, windows, false);
    for (const auto& [thread, nodes] : threads_of(rank, false)) host.thread(nodes);
    Times times = host.take();
    if (!device) return times;
    TimeTaker kernels(chains_, windows, true);
    for (const auto& [stream, nodes] : threads_of(rank, true)) kernels.thread(nodes);
    for (const auto& [place, ns] : kernels.take()) times[place] += ns;
    return times;
  }

  // Host threads that call collectives, or all streams of the device.
  std::map<std::tuple<std::uint16_t, std::int64_t, std::int64_t>, std::vector<std::uint32_t>>
  threads_of(std::uint32_t rank, bool device) const {
    using Key = std::tuple<std::uint16_t, std::int64_t, std::int64_t>;
    std::map<Key, std::vector<std::uint32_t>> threads;
    std::set<Key> callers;
    for (const Operation& op : operations_.ranks[rank].list) {
      if (op.call != kNoIndex) callers.insert(key_of(op.call));
    }
    const auto& sources = operations_.ranks[rank].sources;
    for (std::uint32_t node = 0; node < chains_.node_count(); ++node) {
      if (!std::binary_search(sources.begin(), sources.end(), chains_.nodes.source[node])) continue;
      const std::uint16_t flags = chains_.nodes.flags[node];
      const bool kernel = chains_.layer(node) == Layer::kKernel;
      if (kernel != device || (flags & (kNodeSynthetic | kNodeMark | kNodeRow)) != 0) continue;
      if (device ? (flags & kNodeCollective) != 0 : callers.count(key_of(node)) == 0) continue;
      threads[key_of(node)].push_back(node);
    }
    for (auto& [key, nodes] : threads) {
      std::stable_sort(nodes.begin(), nodes.end(), [this](std::uint32_t a, std::uint32_t b) {
        const auto& n = chains_.nodes;
        if (n.begin_ns[a] != n.begin_ns[b]) return n.begin_ns[a] < n.begin_ns[b];
        return n.end_ns[a] != n.end_ns[b] ? n.end_ns[a] > n.end_ns[b] : a < b;
      });
    }
    return threads;
  }

  std::tuple<std::uint16_t, std::int64_t, std::int64_t> key_of(std::uint32_t node) const {
    const std::uint32_t track = chains_.nodes.track[node];
    const bool kernel = chains_.layer(node) == Layer::kKernel;
    if (track >= chains_.tracks.tid.size()) return {chains_.nodes.source[node], -1, -1};
    return {chains_.nodes.source[node],
            kernel ? chains_.tracks.device[track] : chains_.tracks.pid[track],
            kernel ? chains_.tracks.stream[track] : chains_.tracks.tid[track]};
  }

  // The purpose with the largest excess, and in it the name with the largest.
  DoingFound judge(const Times& own, const Times& usual) const {
    std::map<Doing, double> excess;
    std::map<Doing, std::pair<double, std::uint32_t>> largest;
    for (const auto& [place, ns] : own) {
      const auto known = usual.find(place);
      const double more = ns - (known == usual.end() ? 0 : known->second);
      excess[place.first] += more;
      auto& [most, name] = largest[place.first];
      if (more > most) {
        most = more;
        name = place.second;
      }
    }
    DoingFound found;
    found.cases = cases_.size();
    double best = 0;
    for (const auto& [doing, more] : excess) {
      if (more <= best) continue;
      best = more;
      found.doing = doing;
    }
    // A host that waits for its device spends that time too: the device is why.
    const auto device = excess.find(Doing::kDevice);
    if (device != excess.end() && best > 0 && device->second >= best / 2) {
      found.doing = Doing::kDevice;
      best = device->second;
    }
    found.share = late_ns_ > 0 ? std::min(best / late_ns_, 1.0) : 0;
    if (found.share < kLeastShare) {
      found.doing = Doing::kUnknown;
      return found;
    }
    found.excess_ns = best / static_cast<double>(cases_.size());
    found.name = std::string(chains_.string(largest[found.doing].second));
    return found;
  }

  const Chains& chains_;
  const Operations& operations_;
  const Matching& matching_;
  const Lateness& lateness_;
  std::uint32_t rank_;
  std::vector<LateCase> cases_;
  double late_ns_ = 0;
};

}  // namespace

const char* doing_words(Doing doing) {
  switch (doing) {
    case Doing::kData:
      return "data loading";
    case Doing::kGarbage:
      return "garbage collection";
    case Doing::kCheckpoint:
      return "a checkpoint";
    case Doing::kCompute:
      return "compute on the host";
    case Doing::kDevice:
      return "compute on the device";
    case Doing::kPython:
      return "Python";
    case Doing::kNothing:
      return "nothing that was recorded";
    case Doing::kUnknown:
      break;
  }
  return "unknown";
}

Doing doing_of_name(std::string_view name) {
  if (has_any(name, {"DataLoader", "dataloader", "data_loader", "next batch", "load batch",
                     "load_batch", "get_batch", "next_batch", "DataIter"})) {
    return Doing::kData;
  }
  if (has_any(name, {"gc.collect", "method collect of module", "garbage", "gc.py", "gc_collect"})) {
    return Doing::kGarbage;
  }
  if (has_any(name, {"checkpoint", "torch/serialization.py", "torch.save", "save_state",
                     "state_dict", "safetensors"})) {
    // Activation checkpointing computes again: it saves nothing.
    return has_any(name, {"utils/checkpoint.py", "CheckpointFunction", "CheckpointWrapper"})
               ? Doing::kUnknown
               : Doing::kCheckpoint;
  }
  return Doing::kUnknown;
}

DoingFound find_doing(const Chains& chains, const Operations& operations, const Matching& matching,
                      const Lateness& lateness, std::uint32_t rank) {
  return PeerComparison(chains, operations, matching, lateness, rank).run();
}

}  // namespace teller::horizontal_detail
