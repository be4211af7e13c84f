// Reads snapshot.json, which may be from anyone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "run_folder/run_folder.h"
#include "snapshot/facts.h"
#include "teller/result.h"

namespace teller::snapshot_detail {

// A thread as the file has it.
struct SeenThread {
  std::int64_t tid = 0;
  std::string name;
  std::string behaviour;  // as behaviour_name() gives it
  double cpu_share = 0;
  std::string syscall;
  std::string target;      // what the system call waits on: path, "pipe:[…]", or peer of a socket
  bool on_socket = false;  // it is a socket
  std::string wait_channel;
  bool for_ever = false;
  std::uint64_t futex = 0;
  std::int64_t lock_owner = 0;
  bool owns_gil = false;
  bool has_python = false;
  Stack stack;
};

struct SeenProcess {
  std::int64_t pid = 0;
  std::int64_t ppid = 0;
  std::string role;
  char state = '?';
  std::optional<int> rank, world_size, local_rank, local_world_size;
  std::string master;
  std::string command;  // arguments without digits: workers of one kind have the same
  std::optional<int> exit_code, signal;  // of a zombie
  std::vector<SeenThread> threads;
};

struct Seen {
  std::vector<SeenProcess> processes;
  std::int64_t begin_ns = 0;
  double window_s = 0;
  int samples = 0;
  bool whole_job = false;  // all processes of the job on this host were looked for
  std::size_t gaps = 0;
  const SeenProcess* find(std::int64_t pid) const;
};

// An Error if the run has no snapshot, or it is not what it should be.
Result<Seen> load_snapshot(const RunFolder& run);

}  // namespace teller::snapshot_detail
