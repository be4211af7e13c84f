// Which processes belong to the job.
#pragma once

#include "snapshot/facts.h"
#include "snapshot/snapshot.h"
#include "teller/result.h"

namespace teller::snapshot_detail {

// Most processes that a snapshot looks at; the rest is a gap.
inline constexpr std::size_t kMostProcesses = 512;

// Fills job.processes: those asked for, with `children` their descendants, with `job` the other
// ranks of the same job on this host (same MASTER_ADDR and MASTER_PORT, or Slurm job and step, in
// the environment), the parents from which multiprocessing workers and engine workers were made,
// and dead siblings of ranks. An Error if a process asked for does not exist.
Status find_members(const SnapshotOptions& options, Job& job);

}  // namespace teller::snapshot_detail
