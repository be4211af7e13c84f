// Takes the samples of all processes of a job.
#pragma once

#include "snapshot/facts.h"
#include "snapshot/snapshot.h"

namespace teller::snapshot_detail {

// Samples every process `options.samples` times, `options.interval_ms` apart, with stacks by libdw,
// py-spy and, with options.pause, gdb. What cannot be had becomes a gap. Leaves no process stopped
// that was not stopped before.
void collect_samples(const SnapshotOptions& options, Job& job);

}  // namespace teller::snapshot_detail
