// Rules over the threads of one process: deadlocks, and who keeps the GIL.
#include <algorithm>
#include <set>

#include "snapshot/reading.h"

namespace teller::snapshot_detail {

namespace {

Evidence thread_evidence(const ProcessReading& reading, std::size_t place, std::string text) {
  const SeenThread& thread = reading.process->threads[place];
  Evidence evidence{std::move(text), reading.process, &thread, own_frame(thread.stack)};
  if (evidence.frame >= 0)
    evidence.text += ", at " + frame_words(thread.stack[static_cast<std::size_t>(evidence.frame)]);
  return evidence;
}

std::string thread_words(const SeenProcess& process, const SeenThread& thread) {
  return process_words(process) + " thread " + std::to_string(thread.tid);
}

// Threads that wait, without a time limit, for locks that nobody is left to release.
std::vector<std::size_t> lock_waiters(const ProcessReading& reading) {
  std::vector<std::size_t> places;
  const auto& threads = reading.process->threads;
  for (std::size_t i = 0; i < threads.size(); ++i) {
    const bool known = threads[i].futex != 0 && threads[i].for_ever;
    if (reading.waits[i].kind == WaitKind::kLock && threads[i].behaviour == "stuck" && known)
      places.push_back(i);
  }
  return places;
}

// The holders of mutexes are known: a circle of them is proof. Empty where there is none.
std::vector<std::size_t> owner_circle(const ProcessReading& reading,
                                      const std::vector<std::size_t>& waiters) {
  const auto& threads = reading.process->threads;
  const auto holder = [&](std::size_t place) {
    for (const std::size_t other : waiters) {
      if (threads[other].tid == threads[place].lock_owner) return other;
    }
    return threads.size();
  };
  for (const std::size_t start : waiters) {
    std::vector<std::size_t> circle;
    std::size_t at = start;
    while (at < threads.size() && circle.size() <= waiters.size()) {
      circle.push_back(at);
      at = holder(at);
      if (at == start) return circle;
    }
  }
  return {};
}

// Python locks do not tell their holder. Two threads that wait for two locks, in a process in which
// no thread of the program runs or waits for anything else than other threads, are a deadlock.
bool nobody_else(const ProcessReading& reading) {
  const auto& threads = reading.process->threads;
  for (std::size_t i = 0; i < threads.size(); ++i) {
    const bool program = threads[i].has_python || threads[i].tid == reading.process->pid;
    if (!program) continue;
    const WaitKind kind = reading.waits[i].kind;
    const bool named = std::any_of(threads[i].stack.begin(), threads[i].stack.end(),
                                   [](const Frame& frame) { return frame.python; });
    // Queues and conditions are locks, too: only Python frames tell them apart.
    if (!named) return false;
    const bool internal = kind == WaitKind::kLock || kind == WaitKind::kThread ||
                          kind == WaitKind::kCondition || kind == WaitKind::kQueue;
    if (!internal || threads[i].behaviour != "stuck") return false;
  }
  return true;
}

}  // namespace

Verdict judge_deadlock(const std::vector<ProcessReading>& readings) {
  Verdict verdict;
  for (const ProcessReading& reading : readings) {
    if (reading.dead) continue;
    const std::vector<std::size_t> waiters = lock_waiters(reading);
    std::vector<std::size_t> circle = owner_circle(reading, waiters);
    const bool proved = !circle.empty();
    std::set<std::uint64_t> locks;
    for (const std::size_t i : waiters) locks.insert(reading.process->threads[i].futex);
    if (!proved && waiters.size() >= 2 && locks.size() >= 2 && nobody_else(reading))
      circle = waiters;
    if (circle.empty()) continue;
    verdict.name = "deadlock";
    verdict.fault_type = "scheduling";
    if (reading.process->rank) verdict.culprit_ranks = {*reading.process->rank};
    verdict.culprit_pids = {reading.process->pid};
    for (const std::size_t i : circle) {
      const SeenThread& thread = reading.process->threads[i];
      std::string text = thread_words(*reading.process, thread) + " waits for a lock";
      if (proved) text += " that thread " + std::to_string(thread.lock_owner) + " holds";
      verdict.evidence.push_back(thread_evidence(reading, i, std::move(text)));
    }
    verdict.explanation =
        std::to_string(circle.size()) + " threads of " + process_words(*reading.process) +
        (proved ? " wait in a circle for mutexes that they hold."
                : " wait for different locks, and no thread of it is left to release one: they "
                  "most likely hold each other's.");
    verdict.check_next = "Take the locks at these places in the same order everywhere.";
    return verdict;
  }
  return verdict;
}

Verdict judge_gil(const std::vector<ProcessReading>& readings) {
  Verdict verdict;
  for (const ProcessReading& reading : readings) {
    const auto& threads = reading.process->threads;
    std::size_t owner = threads.size(), waiting = 0;
    for (std::size_t i = 0; i < threads.size(); ++i) {
      const bool still = threads[i].behaviour == "stuck" || threads[i].behaviour == "disk" ||
                         threads[i].behaviour == "spinning";
      if (threads[i].owns_gil && still) owner = i;
      const bool idle = threads[i].behaviour == "polling" || threads[i].behaviour == "stuck";
      if (reading.waits[i].kind == WaitKind::kGil && idle) ++waiting;
    }
    if (owner == threads.size() || waiting == 0) continue;
    verdict.name = "gil_held";
    verdict.fault_type = "scheduling";
    verdict.culprit_pids = {reading.process->pid};
    verdict.evidence = {thread_evidence(
        reading, owner, thread_words(*reading.process, threads[owner]) + " keeps the GIL")};
    verdict.explanation = verdict.evidence.front().text + ", and " + std::to_string(waiting) +
                          " other threads wait for it.";
    verdict.check_next = "Native code at that place must release the GIL while it waits.";
    return verdict;
  }
  return verdict;
}

}  // namespace teller::snapshot_detail
