// Stacks as events, so that dump, reconstruct and report show them.
#pragma once

#include <string>

#include "snapshot/facts.h"
#include "teller/result.h"

namespace teller::snapshot_detail {

// Writes the threads of one process: each thread's last stack as open ranges, the outermost first.
// Returns the number of events.
Result<std::uint64_t> write_events(const Process& process, const std::string& path);

// META "clock" of files whose times are CLOCK_MONOTONIC.
std::int64_t unix_offset_ns();

}  // namespace teller::snapshot_detail
