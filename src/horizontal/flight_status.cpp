// What pg_status says of collectives. PyTorch keeps one pair of numbers per group, the last work
// enqueued and the last completed, each by its own kind's count: of a group with sends and receives
// either may be a collective or a transfer.
#include <algorithm>
#include <cstdint>

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
}

}  // namespace teller::flight
