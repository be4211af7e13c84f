// What is written of a process beside its stacks.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "procfs/descriptors.h"
#include "procfs/sockets.h"
#include "snapshot/facts.h"

namespace teller::snapshot_detail {

// A process's open files, and the sockets of its network namespace.
struct OpenFiles {
  std::vector<Descriptor> files;
  std::map<std::uint64_t, SocketInfo> sockets;
};

OpenFiles read_open_files(const Process& process);

// Rank, world size and the like, from the environment at its start: null where it has none.
nlohmann::ordered_json rank_json(const Process& process);
// Ids, state, arguments, memory, limits, cgroup, open files and sockets.
nlohmann::ordered_json process_json(const Process& process, const OpenFiles& open);
// A thread with its samples summed up: what it does, its stack, what it waits for.
nlohmann::ordered_json thread_json(const Thread& thread, const OpenFiles& open);

}  // namespace teller::snapshot_detail
