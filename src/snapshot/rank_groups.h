// The ranks of a distributed job that were seen, sorted by whether they wait for each other.
#pragma once

#include <map>
#include <vector>

#include "snapshot/reading.h"

namespace teller::snapshot_detail {

struct RankGroup {
  // By number: the process that is the rank, not its workers.
  std::map<int, const ProcessReading*> ranks;
  bool numbered = true;  // else the numbers are only places: the processes do not tell their rank
  int world_size = 0;    // 0 = unknown
  std::vector<const ProcessReading*> waiting;  // in a collective or for the GPU, the whole time
  std::vector<const ProcessReading*> elsewhere;
  std::vector<int> gone;                    // numbers of ranks of this host that have no process
  std::vector<const ProcessReading*> dead;  // dead processes that may have been ranks
};

// Ranks of one MASTER_ADDR:MASTER_PORT; and processes that do not tell their rank, if they are
// children of one parent, were started alike and have a process group.
std::vector<RankGroup> find_rank_groups(const Seen& seen,
                                        const std::vector<ProcessReading>& readings);

}  // namespace teller::snapshot_detail
