#include "vertical/device_idle.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>
#include <utility>

namespace teller::vertical_detail {

namespace {

constexpr std::int64_t kLeastGap = 100;    // parts of a step
constexpr std::int64_t kStarvedStep = 10;  // parts of a step

struct Interval {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t length() const { return end - begin; }
};

struct Word {
  std::string_view text;
  IdleCause cause;
};
constexpr std::array<Word, 7> kWords = {{
    {"DataLoader", IdleCause::kDataLoading},
    {"dataloader", IdleCause::kDataLoading},
    {"_next_data", IdleCause::kDataLoading},
    {"checkpoint.py", IdleCause::kCheckpoint},
    {"save_checkpoint", IdleCause::kCheckpoint},
    {"torch.save", IdleCause::kCheckpoint},
    {"gc.collect", IdleCause::kGarbageCollection},
}};

// Of a node and what is around it: the innermost name that tells.
IdleCause cause_of(const Chains& chains, std::uint32_t node) {
  for (; node != kNoIndex; node = chains.nodes.parent[node]) {
    const std::string_view name = chains.string(chains.nodes.name[node]);
    for (const Word& word : kWords) {
      if (name.find(word.text) != std::string_view::npos) return word.cause;
    }
  }
  return IdleCause::kOther;
}

// The union of intervals, in the order of time.
std::vector<Interval> joined(std::vector<Interval> all) {
  std::sort(all.begin(), all.end(),
            [](const Interval& a, const Interval& b) { return a.begin < b.begin; });
  std::vector<Interval> united;
  for (const Interval& one : all) {
    if (united.empty() || one.begin > united.back().end) {
      united.push_back(one);
    } else {
      united.back().end = std::max(united.back().end, one.end);
    }
  }
  return united;
}

// The parts of `whole` that none of `busy`, a union, covers.
std::vector<Interval> gaps_between(const std::vector<Interval>& busy, const Interval& whole) {
  auto one = std::partition_point(busy.begin(), busy.end(),
                                  [&](const Interval& each) { return each.end <= whole.begin; });
  std::vector<Interval> gaps;
  std::int64_t reached = whole.begin;
  for (; one != busy.end() && one->begin < whole.end; ++one) {
    if (one->begin > reached) gaps.push_back({reached, one->begin});
    reached = std::max(reached, one->end);
  }
  if (whole.end > reached) gaps.push_back({reached, whole.end});
  return gaps;
}

class IdleMeter {
  // A source, and the number of a device in it; -1 where its track does not say.
  using Device = std::pair<std::uint16_t, std::int64_t>;
  using SharesOfStep = std::map<std::pair<IdleCause, std::uint32_t>, std::int64_t>;

 public:
  explicit IdleMeter(const Chains& chains) : chains_(chains) {
    for (std::uint32_t node = 0; node < chains.node_count(); ++node) {
      if (chains.layer(node) != Layer::kKernel) continue;
      busy_[device_of(node)].push_back({chains.nodes.begin_ns[node], chains.nodes.end_ns[node]});
    }
    for (auto& [device, intervals] : busy_) intervals = joined(std::move(intervals));
  }

  void add_step(std::size_t step) {
    const Interval whole{chains_.steps.begin_ns[step], chains_.steps.end_ns[step]};
    const std::uint32_t first = chains_.steps.root[step];
    const std::uint32_t end = first + chains_.steps.node_count[step];
    std::set<Device> devices;
    for (std::uint32_t node = first; node < end; ++node) {
      if (chains_.layer(node) == Layer::kKernel) devices.insert(device_of(node));
    }
    if (devices.empty() || whole.length() <= 0) return;
    ++idle_.steps;
    SharesOfStep of_step;
    for (const Device& device : devices) {
      idle_.wall_ns += whole.length();
      std::vector<Interval> long_gaps;
      for (const Interval& gap : gaps_between(busy_[device], whole)) {
        idle_.idle_ns += gap.length();
        if (gap.length() >= whole.length() / kLeastGap) long_gaps.push_back(gap);
      }
      give(long_gaps, owners(long_gaps, first, end), of_step);
    }
    const auto wall_ns = whole.length() * static_cast<std::int64_t>(devices.size());
    for (const auto& [key, idle_ns] : of_step) {
      if (idle_ns >= wall_ns / kStarvedStep) ++shares_[key].steps;
    }
  }

  DeviceIdle finish() {
    for (auto& [key, share] : shares_) idle_.shares.push_back(share);
    std::stable_sort(idle_.shares.begin(), idle_.shares.end(),
                     [](const IdleShare& a, const IdleShare& b) { return a.idle_ns > b.idle_ns; });
    return std::move(idle_);
  }

 private:
  Device device_of(std::uint32_t node) const {
    const std::uint32_t track = chains_.nodes.track[node];
    const bool known = track < chains_.tracks.device.size();
    return {chains_.nodes.source[node], known ? chains_.tracks.device[track] : -1};
  }

  // For each gap the innermost range of the root's thread around it; kNoIndex for none. Nodes stand
  // in preorder, so that the last one is the innermost.
  std::vector<std::uint32_t> owners(const std::vector<Interval>& gaps, std::uint32_t first,
                                    std::uint32_t end) const {
    std::vector<std::uint32_t> owner(gaps.size(), kNoIndex);
    for (std::uint32_t node = first + 1; node < end; ++node) {
      const auto& nodes = chains_.nodes;
      if (nodes.track[node] != nodes.track[first] || (nodes.flags[node] & kNodeOpen) != 0) continue;
      const Interval own{nodes.begin_ns[node], nodes.end_ns[node]};
      auto gap = std::partition_point(gaps.begin(), gaps.end(),
                                      [&](const Interval& one) { return one.end <= own.begin; });
      for (; gap != gaps.end() && gap->begin < own.end; ++gap) {
        const std::int64_t both = std::min(gap->end, own.end) - std::max(gap->begin, own.begin);
        if (both >= gap->length() - gap->length() / 5) {
          owner[static_cast<std::size_t>(gap - gaps.begin())] = node;
        }
      }
    }
    return owner;
  }

  void give(const std::vector<Interval>& gaps, const std::vector<std::uint32_t>& owner,
            SharesOfStep& of_step) {
    for (std::size_t i = 0; i < gaps.size(); ++i) {
      if (owner[i] == kNoIndex) continue;
      const std::pair key{cause_of(chains_, owner[i]), chains_.nodes.family[owner[i]]};
      IdleShare& share = shares_[key];
      share.cause = key.first;
      share.family = key.second;
      share.idle_ns += gaps[i].length();
      of_step[key] += gaps[i].length();
      if (gaps[i].length() <= share.longest_ns) continue;
      share.longest_ns = gaps[i].length();
      share.node = owner[i];
    }
  }

  const Chains& chains_;
  std::map<Device, std::vector<Interval>> busy_;  // when any activity of the device runs
  DeviceIdle idle_;
  std::map<std::pair<IdleCause, std::uint32_t>, IdleShare> shares_;
};

}  // namespace

const char* cause_name(IdleCause cause) {
  switch (cause) {
    case IdleCause::kDataLoading:
      return "data_loading";
    case IdleCause::kCheckpoint:
      return "checkpoint";
    case IdleCause::kGarbageCollection:
      return "garbage_collection";
    case IdleCause::kOther:
      break;
  }
  return "other";
}

DeviceIdle measure_device_idle(const Chains& chains) {
  IdleMeter meter(chains);
  for (std::size_t step = 0; step < chains.step_count(); ++step) {
    if (chains.steps.open[step] == 0) meter.add_step(step);
  }
  return meter.finish();
}

}  // namespace teller::vertical_detail
