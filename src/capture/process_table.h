// The processes of a run, as /proc shows them: those with our library and those without.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "procfs/procfs.h"
#include "redact/redact.h"

namespace teller::capture {

struct ProcessInfo {
  std::int64_t pid = 0;
  std::int64_t ppid = 0;
  std::int64_t start_ns = 0;  // CLOCK_MONOTONIC; the kernel tells it to 10 ms
  std::int64_t end_ns = -1;   // when it was found gone; -1 = not yet
  int wait_status =
      -1;  // as waitpid() gave it; -1 = unknown (only the program itself is our child)
  bool library = false;  // recorded events
  std::vector<std::string> argv;
  std::string comm;
};

// Variables in which launchers of distributed jobs say the rank of a process: torchrun and Ray
// Train, Slurm, Open MPI, MPICH. The first that is set counts.
inline constexpr const char* kRankVariables[] = {"RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK",
                                                 "PMI_RANK"};
inline constexpr const char* kWorldSizeVariables[] = {"WORLD_SIZE", "SLURM_NTASKS",
                                                      "OMPI_COMM_WORLD_SIZE", "PMI_SIZE"};

// Follows the program and its descendants. A process belongs to the run if its parent does, or if
// its environment names our socket (its parent may have gone before we looked).
class ProcessTable {
 public:
  // `redactor` decides what is told of arguments; it outlives this.
  ProcessTable(std::string socket, const Redactor* redactor);

  // Looks at /proc. Cheap between new processes: only the list of ids is read.
  void sample();
  void add_root(std::int64_t pid, std::vector<std::string> argv);
  // `pid` announced itself through the library.
  void add_traced(std::int64_t pid, std::int64_t ppid);
  // `wait_status`: as waitpid() gave it, -1 = unknown.
  void set_ended(std::int64_t pid, int wait_status);
  // The process has ended, nobody knows how. Nothing happens if that is known already.
  void set_gone(std::int64_t pid) {
    if (alive_.contains(pid)) set_ended(pid, -1);
  }
  // Arguments of a process of the run, as last seen, without secrets.
  std::vector<std::string> argv_of(std::int64_t pid) const;
  // Whether something changed since the last call.
  bool take_changed();
  // One JSON object per line, in order of appearance. Counts what it redacts, each time anew.
  std::string to_jsonl(RedactCounts& redacted) const;
  // The processes that live now, with their arguments as they are.
  std::vector<ProcessInfo> living() const;
  std::size_t size() const { return processes_.size(); }
  std::size_t alive() const { return alive_.size(); }

 private:
  void look_at(std::int64_t pid);
  void refresh(ProcessInfo& process);
  bool belongs(std::int64_t pid, std::int64_t ppid) const;
  void add(ProcessInfo process);

  std::string socket_;
  const Redactor* redactor_;
  std::vector<ProcessInfo> processes_;
  std::map<std::int64_t, std::size_t> alive_;                  // pid -> index of processes_
  std::unordered_map<std::int64_t, std::uint64_t> strangers_;  // pid -> start ticks
  bool changed_ = false;
  std::uint64_t samples_ = 0;
};

}  // namespace teller::capture
