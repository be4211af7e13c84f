// Variables that a process has set since its start.
#pragma once

#include "snapshot/facts.h"

namespace teller::snapshot_detail {

// Adds to process.environment those variables of distributed jobs (RANK, MASTER_ADDR, …) that the
// process has set itself, as workers of multiprocessing do. Nothing happens where they cannot be
// read. Runs in a child process, since the files that the process maps are not trusted.
void add_live_environment(Process& process, int timeout_ms);

}  // namespace teller::snapshot_detail
