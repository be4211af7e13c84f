// What pg_status says of collectives. PyTorch keeps one pair of numbers per group, the last work
// enqueued and the last completed, each by its own kind's count: of a group with sends and receives
// either may be a collective or a transfer.
#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "horizontal/flight_job.h"

namespace teller::flight {

namespace {

// How far the entries of a rank show a group to be.
struct Counted {
  std::int64_t collectives = -1, transfers = -1;  // the highest numbers; -1 no entry tells
  std::int64_t newest_record = -1;
  bool newest_is_collective = false;
};

using CountedOf = std::map<std::size_t, Counted>;  // by group

CountedOf count_entries(const Node& node) {
  CountedOf counted;
  for (const Operation& one : node.operations) {
    if (one.doubtful || one.batch != kNone) continue;
    Counted& group = counted[one.group];
    group.collectives = std::max(group.collectives, one.entry.seq);
    group.transfers = std::max(group.transfers, one.entry.p2p_seq);
    if (one.entry.record_id < group.newest_record) continue;
    group.newest_record = one.entry.record_id;
    group.newest_is_collective = !one.entry.p2p;
  }
  return counted;
}

// The highest count of collectives that any dump's entries know of each group.
std::vector<std::int64_t> most_collectives(const Job& job) {
  std::vector<std::int64_t> most(job.groups.size(), -1);
  for (const Node& node : job.nodes) {
    for (const auto& [group, last] : node.last_seq) most[group] = std::max(most[group], last.seq);
  }
  return most;
}

// The status of one group that has transfers too, in terms of collectives.
class MixedStatus {
 public:
  // `most`: collectives that any rank's entries know of.
  MixedStatus(const Node& node, std::size_t group, const Counted& counted, std::int64_t most)
      : node_(node), group_(group), counted_(counted), most_(most) {}

  Progress read(const Progress& raw) const {
    Progress progress;
    if (raw.enqueued < 0) return progress;
    const bool collective = may_be_collective(raw.enqueued);
    const bool transfer = may_be_transfer(raw.enqueued);
    if (collective && !transfer) progress.enqueued = raw.enqueued;
    if (transfer && !collective && raw.enqueued == counted_.transfers) {
      // The last work is the newest entry, and a transfer does not raise the other count.
      progress.enqueued = counted_.collectives;
    }
    if (collective && transfer && raw.enqueued <= most_) progress.perhaps_enqueued = raw.enqueued;
    // Nothing of the group is open where the last work enqueued is the last completed; the numbers
    // of two kinds may be equal by chance.
    if (raw.completed == raw.enqueued && !has_open(INT64_MAX)) {
      progress.completed = progress.enqueued;
    } else if (completed_is_collective(raw, progress)) {
      progress.completed = raw.completed;
    }
    return progress;
  }

 private:
  // Counts only rise, and the newest entry tells which one rose last.
  bool may_be_collective(std::int64_t number) const {
    return counted_.newest_is_collective ? number >= counted_.collectives
                                         : number > counted_.collectives;
  }
  bool may_be_transfer(std::int64_t number) const {
    if (counted_.newest_record < 0) return true;
    return counted_.newest_is_collective ? number > counted_.transfers
                                         : number >= counted_.transfers;
  }

  // Whether the last completed work can only have been a collective: there have not been so many
  // transfers, and no collective up to it is open.
  bool completed_is_collective(const Progress& raw, const Progress& progress) const {
    if (progress.enqueued < 0 || raw.completed < 0 || raw.completed > progress.enqueued) {
      return false;
    }
    const bool whole = counted_.newest_record >= 0 &&
                       (raw.enqueued == counted_.collectives || raw.enqueued == counted_.transfers);
    return whole && raw.completed > counted_.transfers && !has_open(raw.completed);
  }

  // Whether an operation of the group, up to this number, is open.
  bool has_open(std::int64_t most) const {
    return std::any_of(node_.pending.begin(), node_.pending.end(), [&](std::size_t index) {
      const Operation& one = node_.operations[index];
      return one.group == group_ && one.entry.seq <= most;
    });
  }

  const Node& node_;
  std::size_t group_;
  const Counted& counted_;
  std::int64_t most_;
};

// Dumps without an open operation that give this number as the last work enqueued and the last
// completed, of which it is not known whether it is a collective.
bool may_have_completed(const Node& node, std::size_t group, std::int64_t seq) {
  const auto raw = node.status.find(group);
  const auto read = node.progress.find(group);
  return raw != node.status.end() && raw->second.enqueued == seq && raw->second.completed == seq &&
         read != node.progress.end() && read->second.enqueued < 0 && node.pending.empty();
}

// The first collective of each group that a rank has open.
std::map<std::size_t, std::int64_t> first_open_collectives(const Job& job) {
  std::map<std::size_t, std::int64_t> first;
  for (const Node& node : job.nodes) {
    for (const std::size_t index : node.pending) {
      const Operation& one = node.operations[index];
      if (!one.collective) continue;
      const auto [found, is_new] = first.emplace(one.group, one.entry.seq);
      if (!is_new) found->second = std::min(found->second, one.entry.seq);
    }
  }
  return first;
}

// Where most of a group, and three ranks at least, have nothing open and give as their last work
// the very number of the collective that the others wait in, it is that collective: they have left
// it, rather than each having made as many transfers, and the same ranks all being late.
void agree_on_numbers(Job& job) {
  for (const auto& [group, seq] : first_open_collectives(job)) {
    if (!job.groups[group].has_p2p) continue;
    const std::vector<std::size_t>& present = job.groups[group].present;
    std::vector<std::size_t> agreed;
    bool all = true;
    for (const std::size_t index : present) {
      const Node& node = job.nodes[index];
      if (may_have_completed(node, group, seq)) {
        agreed.push_back(index);
      } else {
        all = all && node.collectives.contains({group, seq});
      }
    }
    if (!all || agreed.size() < 3 || agreed.size() * 2 <= present.size()) continue;
    for (const std::size_t index : agreed) job.nodes[index].progress[group] = {seq, seq, -1};
  }
}

}  // namespace

void read_statuses(Job& job) {
  const std::vector<std::int64_t> most = most_collectives(job);
  for (Node& node : job.nodes) {
    if (node.status.empty()) continue;
    const CountedOf counted = count_entries(node);
    for (const auto& [group, raw] : node.status) {
      if (job.groups[group].has_p2p) {
        const auto known = counted.find(group);
        const Counted entries = known == counted.end() ? Counted() : known->second;
        node.progress[group] = MixedStatus(node, group, entries, most[group]).read(raw);
      } else if (raw.enqueued >= 0 && raw.completed > raw.enqueued) {
        ++job.status_contradictory;
      } else {
        node.progress[group] = raw;
      }
    }
  }
  agree_on_numbers(job);
}

}  // namespace teller::flight
