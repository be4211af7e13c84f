// What a snapshot says of a job: the wait of each process, and a verdict by rules.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "snapshot/load.h"
#include "snapshot/waits.h"

namespace teller::snapshot_detail {

// A process, with the thread that says most of what it does.
struct ProcessReading {
  const SeenProcess* process = nullptr;
  const SeenThread* thread = nullptr;  // null: it is dead, or nothing could be seen
  Wait wait;
  std::vector<Wait> waits;  // of each of its threads
  bool dead = false;        // a zombie, or gone while it was looked at
  bool progress = false;    // a thread of its program uses the processor, or moves on
  bool spinning = false;    // one burns the processor in one place
  bool still = false;       // its thread is where it was at the first sample
};

// A thread or process as evidence, with one sentence.
struct Evidence {
  std::string text;
  const SeenProcess* process = nullptr;
  const SeenThread* thread = nullptr;  // null: the process as a whole
  int frame = -1;                      // of the thread's stack
};

struct Verdict {
  std::string name;  // "rank_elsewhere", …: docs/snapshot.md; "" = this rule does not apply
  bool abnormal = true;
  std::string fault_type = "none";
  std::vector<int> culprit_ranks;          // most likely first
  std::vector<std::int64_t> culprit_pids;  // as are these
  std::vector<Evidence> evidence;          // the culprit's first
  std::string explanation;
  std::string check_next;
};

ProcessReading read_process(const SeenProcess& process);
std::vector<ProcessReading> read_processes(const Seen& seen);

// The verdict on a job: the first rule that applies.
Verdict judge(const Seen& seen, const std::vector<ProcessReading>& readings);

// Rules over the ranks of a distributed job: dead ranks, ranks elsewhere, different collectives,
// all in the same wait.
Verdict judge_ranks(const Seen& seen, const std::vector<ProcessReading>& readings);
// Two or more threads of a process that wait for locks of each other.
Verdict judge_deadlock(const std::vector<ProcessReading>& readings);
// A thread that keeps the interpreter while it stands still.
Verdict judge_gil(const std::vector<ProcessReading>& readings);

// "rank 1 (pid 12)", "pid 12".
std::string process_words(const SeenProcess& process);
// "rank 1 (pid 12) sleeps in load (train.py:9)".
Evidence evidence_of(const ProcessReading& reading);
// The category of what holds a job up while its culprit waits so.
std::string fault_of(WaitKind kind);

}  // namespace teller::snapshot_detail
