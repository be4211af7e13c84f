// Ranks compared: the victims wait in a collective, the culprit does not.
#include <algorithm>

#include "snapshot/rank_groups.h"

namespace teller::snapshot_detail {

namespace {

std::string list_of(const std::vector<const ProcessReading*>& readings) {
  std::string text;
  const bool ranks = readings.front()->process->rank.has_value();
  for (const ProcessReading* reading : readings) {
    const SeenProcess& process = *reading->process;
    text += text.empty() ? "" : ", ";
    text += ranks ? std::to_string(process.rank.value_or(-1)) : std::to_string(process.pid);
  }
  return std::string(ranks ? "rank" : "pid") + (readings.size() == 1 ? " " : "s ") + text;
}

std::string list_of(const std::vector<int>& ranks) {
  std::string text;
  for (const int rank : ranks) text += (text.empty() ? "" : ", ") + std::to_string(rank);
  return (ranks.size() == 1 ? "rank " : "ranks ") + text;
}

void add_evidence(Verdict& verdict, const std::vector<const ProcessReading*>& readings) {
  for (const ProcessReading* reading : readings) verdict.evidence.push_back(evidence_of(*reading));
}

void add_culprit(Verdict& verdict, const SeenProcess& process) {
  if (process.rank) verdict.culprit_ranks.push_back(*process.rank);
  verdict.culprit_pids.push_back(process.pid);
}

std::string wait_of_all(const RankGroup& group) {
  std::string words = wait_words(group.waiting.front()->wait);
  // "waits for …" of several.
  if (group.waiting.size() > 1) words.replace(0, words.find(' '), "wait");
  return list_of(group.waiting) + " " + words;
}

// A rank that the others wait for, and that is no more.
Verdict dead_rank(const RankGroup& group) {
  Verdict verdict;
  if ((group.gone.empty() && (group.numbered || group.dead.empty())) || group.waiting.empty())
    return verdict;
  verdict.name = "rank_gone";
  verdict.fault_type = "unknown";
  verdict.culprit_ranks = group.gone;
  for (const ProcessReading* reading : group.dead) {
    verdict.culprit_pids.push_back(reading->process->pid);
    verdict.evidence.push_back(evidence_of(*reading));
  }
  add_evidence(verdict, group.waiting);
  verdict.explanation = group.numbered ? "There is no process of " + list_of(group.gone) + " (of " +
                                             std::to_string(group.world_size) + ") any more"
                                       : evidence_of(*group.dead.front()).text;
  verdict.explanation += ", and " + wait_of_all(group) + ": for what will not come.";
  verdict.check_next =
      "Look for why that rank ended: its last log lines, its exit status, dmesg (out of memory, "
      "Xid).";
  return verdict;
}

int order_of(const ProcessReading& reading) {
  if (reading.wait.kind == WaitKind::kStopped) return 0;
  if (reading.still && !reading.spinning) return 1;
  return reading.spinning ? 2 : 3;
}

Verdict rank_elsewhere(const RankGroup& group, const std::vector<ProcessReading>& readings) {
  Verdict verdict;
  if (group.waiting.empty() || group.elsewhere.empty()) return verdict;
  std::vector<const ProcessReading*> culprits = group.elsewhere;
  std::stable_sort(
      culprits.begin(), culprits.end(),
      [](const ProcessReading* a, const ProcessReading* b) { return order_of(*a) < order_of(*b); });
  verdict.name = "rank_elsewhere";
  verdict.fault_type = fault_of(culprits.front()->wait.kind);
  for (const ProcessReading* culprit : culprits) add_culprit(verdict, *culprit->process);
  add_evidence(verdict, culprits);
  add_evidence(verdict, group.waiting);
  verdict.explanation = evidence_of(*culprits.front()).text + ", while " + wait_of_all(group) + ".";
  if (culprits.front()->progress)
    verdict.explanation += " It moves on: it may only be slower than the others.";
  std::vector<ProcessReading> own;
  for (const ProcessReading& reading : readings) {
    if (reading.process->pid == culprits.front()->process->pid) own.push_back(reading);
  }
  const Verdict deadlock = judge_deadlock(own);
  if (!deadlock.name.empty()) verdict.explanation += " Within it: " + deadlock.explanation;
  verdict.check_next = "Look at what that rank does at the place shown, and why the others do not.";
  return verdict;
}

// Ranks by the collective that they are in.
Verdict different_collectives(const RankGroup& group) {
  Verdict verdict;
  std::map<std::string, std::vector<const ProcessReading*>> parts;
  for (const ProcessReading* reading : group.waiting) {
    if (reading->wait.kind != WaitKind::kCollective || reading->wait.frame < 0) return verdict;
    const Frame& frame = reading->thread->stack[static_cast<std::size_t>(reading->wait.frame)];
    if (!frame.python) return verdict;  // C++ names differ by algorithm, too
    const bool message = reading->wait.detail == "send" || reading->wait.detail == "recv";
    if (message) return verdict;  // pairs of ranks differ as they should
    parts[reading->wait.detail].push_back(reading);
  }
  if (parts.size() < 2) return verdict;
  std::vector<std::vector<const ProcessReading*>> by_size;
  for (auto& [name, part] : parts) by_size.push_back(part);
  std::stable_sort(by_size.begin(), by_size.end(),
                   [](const auto& a, const auto& b) { return a.size() < b.size(); });
  const bool tie = by_size[0].size() == by_size[1].size();
  verdict.name = "collective_mismatch";
  verdict.fault_type = "communication";
  for (std::size_t i = 0; i < by_size.size(); ++i) {
    add_evidence(verdict, by_size[i]);
    if (i + 1 == by_size.size() && !tie) break;
    for (const ProcessReading* reading : by_size[i]) add_culprit(verdict, *reading->process);
  }
  for (const auto& part : by_size) {
    verdict.explanation += (verdict.explanation.empty() ? "Different collectives: " : "; ") +
                           list_of(part) + " in " + part.front()->wait.detail;
  }
  verdict.explanation += ". Ranks of one group must call the same ones in the same order.";
  verdict.check_next =
      "Look for a branch that depends on the rank, or on data, before these calls.";
  return verdict;
}

Verdict all_waiting(const RankGroup& group) {
  Verdict verdict;
  const bool alone = group.waiting.size() < 2 && group.world_size < 2;
  if (group.waiting.empty() || alone) return verdict;
  const bool gpu = std::all_of(
      group.waiting.begin(), group.waiting.end(),
      [](const ProcessReading* reading) { return reading->wait.kind == WaitKind::kGpu; });
  verdict.name = "all_waiting";
  verdict.fault_type = gpu ? "unknown" : "communication";
  add_evidence(verdict, group.waiting);
  verdict.explanation =
      "All ranks that were seen stand in the same wait: " + wait_of_all(group) + ".";
  const int unseen = group.world_size - static_cast<int>(group.ranks.size());
  if (group.numbered && unseen > 0) {
    verdict.explanation += " " + std::to_string(unseen) +
                           " more ranks run on other hosts: one of them may be the one that is "
                           "elsewhere.";
    verdict.check_next = "Take a snapshot on each host of the job.";
  } else {
    verdict.check_next = "Look at the network between the ranks, at NCCL's log and at the GPUs.";
  }
  return verdict;
}

}  // namespace

Verdict judge_ranks(const Seen& seen, const std::vector<ProcessReading>& readings) {
  for (const RankGroup& group : find_rank_groups(seen, readings)) {
    for (const Verdict& verdict : {dead_rank(group), rank_elsewhere(group, readings),
                                   different_collectives(group), all_waiting(group)}) {
      if (!verdict.name.empty()) return verdict;
    }
  }
  return {};
}

}  // namespace teller::snapshot_detail
