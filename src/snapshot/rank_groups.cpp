#include "snapshot/rank_groups.h"

#include <algorithm>
#include <string>
#include <utility>

namespace teller::snapshot_detail {

namespace {

// Workers of a rank have its environment: the topmost process is the rank.
bool has_ancestor_of_rank(const Seen& seen, const SeenProcess& process) {
  const SeenProcess* parent = seen.find(process.ppid);
  for (int depth = 0; parent != nullptr && depth < 64; ++depth) {
    if (parent->rank == process.rank && parent->master == process.master) return true;
    parent = seen.find(parent->ppid);
  }
  return false;
}

bool is_loopback(const std::string& master) {
  return master.starts_with("127.") || master.starts_with("localhost:") ||
         master.starts_with("::1") || master.starts_with("[::1]");
}

// Whether it has made a process group: its library's threads stand in it.
bool in_process_group(const SeenProcess& process) {
  for (const SeenThread& thread : process.threads) {
    for (const Frame& frame : thread.stack) {
      if (frame.function.starts_with("c10d::") || frame.function.starts_with("gloo::") ||
          frame.function.starts_with("nccl") ||
          frame.file.ends_with("/torch/distributed/distributed_c10d.py"))
        return true;
    }
  }
  return false;
}

// Processes that do not tell their rank: children of one parent that were started in the same way
// and have a process group.
void add_peers(const std::vector<ProcessReading>& readings,
               std::map<std::string, RankGroup>& groups) {
  for (const ProcessReading& reading : readings) {
    const SeenProcess& process = *reading.process;
    if (process.rank || process.command.empty() || !in_process_group(process)) continue;
    const std::string parent = std::to_string(process.ppid);
    RankGroup& group = groups["peers " + parent + " " + process.command];
    group.numbered = false;
    group.ranks.emplace(static_cast<int>(group.ranks.size()), &reading);
    if (group.ranks.size() > 1) continue;
    for (const ProcessReading& other : readings) {
      if (other.dead && other.process->ppid == process.ppid) group.dead.push_back(&other);
    }
  }
}

std::map<std::string, RankGroup> find_groups(const Seen& seen,
                                             const std::vector<ProcessReading>& readings) {
  std::map<std::string, RankGroup> groups;
  for (const ProcessReading& reading : readings) {
    const SeenProcess& process = *reading.process;
    if (!process.rank || has_ancestor_of_rank(seen, process)) continue;
    RankGroup& group = groups[process.master];
    group.ranks.emplace(*process.rank, &reading);
    group.world_size = std::max(group.world_size, process.world_size.value_or(0));
  }
  for (auto& [master, group] : groups) {
    for (const ProcessReading& reading : readings) {
      const bool beside =
          std::any_of(group.ranks.begin(), group.ranks.end(), [&reading](const auto& one) {
            return one.second->process->ppid == reading.process->ppid;
          });
      if (reading.dead && (beside || reading.process->rank)) group.dead.push_back(&reading);
    }
  }
  add_peers(readings, groups);
  return groups;
}

bool is_waiting(const ProcessReading& reading) {
  const WaitKind kind = reading.wait.kind;
  return reading.still &&
         (kind == WaitKind::kCollective || kind == WaitKind::kRendezvous || kind == WaitKind::kGpu);
}

// Numbers of the ranks that belong on this host: [first, end). Launchers number them one after
// another. Empty where that is not known.
std::pair<int, int> ranks_here(const RankGroup& group) {
  // Ranks beyond what a host holds are not counted one by one.
  constexpr int kMostRanks = 4096;
  for (const auto& [rank, reading] : group.ranks) {
    const SeenProcess& process = *reading->process;
    const int local = process.local_world_size.value_or(0);
    const bool all = is_loopback(process.master) || (local > 0 && local == group.world_size);
    if (all && group.world_size <= kMostRanks) return {0, group.world_size};
    if (process.local_rank && local <= kMostRanks && rank >= *process.local_rank)
      return {rank - *process.local_rank, rank - *process.local_rank + local};
  }
  return {0, 0};
}

void sort_out(const Seen& seen, RankGroup& group) {
  for (const auto& [rank, reading] : group.ranks) {
    if (reading->dead) {
      if (group.numbered) group.gone.push_back(rank);
    } else {
      (is_waiting(*reading) ? group.waiting : group.elsewhere).push_back(reading);
    }
  }
  // Who was not looked for is not gone.
  if (!group.numbered || !seen.whole_job) return;
  const auto [first, end] = ranks_here(group);
  for (int rank = first; rank < end; ++rank) {
    if (!group.ranks.contains(rank)) group.gone.push_back(rank);
  }
  std::sort(group.gone.begin(), group.gone.end());
}

}  // namespace

std::vector<RankGroup> find_rank_groups(const Seen& seen,
                                        const std::vector<ProcessReading>& readings) {
  std::vector<RankGroup> sorted;
  for (auto& [key, group] : find_groups(seen, readings)) {
    sort_out(seen, group);
    sorted.push_back(std::move(group));
  }
  return sorted;
}

}  // namespace teller::snapshot_detail
