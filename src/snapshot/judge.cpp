// The order of the rules, and those for processes as a whole.
#include <algorithm>

#include "snapshot/reading.h"

namespace teller::snapshot_detail {

namespace {

using Readings = std::vector<ProcessReading>;

Verdict dead_child(const Readings& readings) {
  Verdict verdict;
  for (const ProcessReading& reading : readings) {
    if (!reading.dead) continue;
    for (const ProcessReading& other : readings) {
      if (other.process->pid != reading.process->ppid || !other.still || other.progress) continue;
      const WaitKind kind = other.wait.kind;
      if (kind == WaitKind::kSleep || kind == WaitKind::kWork || kind == WaitKind::kRunning)
        continue;
      verdict.name = "process_gone";
      verdict.fault_type = "unknown";
      verdict.culprit_pids = {reading.process->pid};
      verdict.evidence = {evidence_of(reading), evidence_of(other)};
      verdict.explanation = evidence_of(reading).text +
                            ", and its parent still waits: " + evidence_of(other).text + ".";
      verdict.check_next = "Look for why it ended: its last log lines, dmesg (out of memory, Xid).";
      return verdict;
    }
  }
  return verdict;
}

// A process that stands still in one of these waits holds up whoever waits for it.
Verdict one_process(const Readings& readings, WaitKind kind, const char* name, const char* next) {
  Verdict verdict;
  for (const ProcessReading& reading : readings) {
    if (reading.dead || !reading.still || reading.progress || reading.wait.kind != kind) continue;
    verdict.name = name;
    verdict.fault_type = fault_of(kind);
    verdict.culprit_pids.push_back(reading.process->pid);
    verdict.evidence.push_back(evidence_of(reading));
    verdict.check_next = next;
    if (verdict.explanation.empty()) verdict.explanation = evidence_of(reading).text + ".";
  }
  return verdict;
}

// Whether a process can only be set going by another one of the job, or by one of its own threads.
bool waits_inside(const ProcessReading& reading) {
  if (reading.dead) return true;
  if (!reading.still || reading.progress || reading.spinning) return false;
  const auto inside = [](WaitKind kind) {
    return kind == WaitKind::kQueue || kind == WaitKind::kLock || kind == WaitKind::kCondition ||
           kind == WaitKind::kThread || kind == WaitKind::kProcess || kind == WaitKind::kPipe ||
           kind == WaitKind::kCollective || kind == WaitKind::kRendezvous;
  };
  for (std::size_t i = 0; i < reading.waits.size(); ++i) {
    const SeenThread& thread = reading.process->threads[i];
    const bool program = thread.has_python || thread.tid == reading.process->pid;
    if (program && (thread.stack.empty() || !inside(reading.waits[i].kind))) return false;
  }
  return reading.thread != nullptr;
}

// Every process waits for another one of them.
Verdict nobody_goes_on(const Readings& readings) {
  Verdict verdict;
  const ProcessReading* first = nullptr;
  for (const ProcessReading& reading : readings) {
    if (!waits_inside(reading)) return {};
    if (reading.dead) continue;
    // Who waits for the end of another waits at second hand.
    const bool second_hand =
        reading.wait.kind == WaitKind::kProcess || reading.wait.kind == WaitKind::kThread;
    if (first == nullptr || (first->wait.kind == WaitKind::kProcess && !second_hand))
      first = &reading;
  }
  if (first == nullptr || first->wait.kind == WaitKind::kProcess) return {};
  verdict.name = "nobody_goes_on";
  verdict.fault_type = fault_of(first->wait.kind);
  verdict.culprit_pids = {first->process->pid};
  verdict.evidence = {evidence_of(*first)};
  for (const ProcessReading& reading : readings) {
    if (&reading != first) verdict.evidence.push_back(evidence_of(reading));
  }
  verdict.explanation = evidence_of(*first).text +
                        ", and no process that was seen is left to end that wait: none runs, "
                        "sleeps, or waits for input from outside.";
  verdict.check_next =
      "Look for who should have put the item, released the lock or set the event, and has ended or "
      "never came to it.";
  return verdict;
}

// Nothing is wrong that can be seen.
Verdict no_fault(const Readings& readings) {
  Verdict verdict;
  verdict.abnormal = false;
  std::size_t alive = 0, moving = 0, unseen = 0;
  const ProcessReading* spinning = nullptr;
  const ProcessReading* still = nullptr;
  for (const ProcessReading& reading : readings) {
    verdict.evidence.push_back(evidence_of(reading));
    if (reading.dead) continue;
    ++alive;
    if (reading.thread == nullptr || reading.thread->behaviour == "unknown") ++unseen;
    if (reading.progress) ++moving;
    if (reading.spinning && !reading.progress && spinning == nullptr) spinning = &reading;
    if (reading.still && !reading.progress && !reading.spinning && still == nullptr)
      still = &reading;
  }
  if (spinning != nullptr) {
    verdict.name = "spinning";
    verdict.explanation =
        evidence_of(*spinning).text + ": a busy loop, or one long computation. Nothing is blocked.";
    verdict.check_next =
        "Take another one with a longer --interval (5000): a computation moves on.";
  } else if (alive == 0 || unseen == alive) {
    verdict.name = "unseen";
    verdict.explanation = alive == 0 ? "No process of the job is alive."
                                     : "No process could be looked into; see the gaps.";
  } else if (moving > 0) {
    verdict.name = "healthy";
    verdict.explanation = "Nothing is stuck: " + std::to_string(moving) + " of " +
                          std::to_string(alive) +
                          " processes move on, and none of the others stands in a wait that "
                          "nobody could end.";
  } else {
    verdict.name = "waiting";
    verdict.explanation = "Nothing is stuck that can be seen, and nothing runs: " +
                          (still == nullptr ? std::string("all wait") : evidence_of(*still).text) +
                          ".";
    verdict.check_next = "If work should be there, look at who sends it.";
  }
  return verdict;
}

}  // namespace

Verdict judge(const Seen& seen, const std::vector<ProcessReading>& readings) {
  const auto rules = {
      judge_ranks(seen, readings),
      judge_deadlock(readings),
      dead_child(readings),
      judge_gil(readings),
      one_process(readings, WaitKind::kStopped, "stopped",
                  "kill -CONT lets it go on; look for who stopped it (a debugger, a terminal)."),
      one_process(readings, WaitKind::kDisk, "disk",
                  "Look at the disk or file system that it waits for, and at dmesg."),
      one_process(readings, WaitKind::kKvTransfer, "kv_transfer",
                  "Look at the engine at the other end, and at the link between them."),
      one_process(readings, WaitKind::kGpu, "gpu_sync",
                  "Look at the kernel that runs (cuda-gdb, nvidia-smi) and at dmesg for Xid."),
      nobody_goes_on(readings),
  };
  for (const Verdict& verdict : rules) {
    if (!verdict.name.empty()) return verdict;
  }
  return no_fault(readings);
}

}  // namespace teller::snapshot_detail
