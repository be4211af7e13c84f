// One clock per run.
#include "reconstruct/passes.h"

namespace teller {

void align_clocks(const RunFolder& run, Workspace& work) {
  std::vector<SourceClock> clocks;
  for (const Source& source : work.sources) {
    clocks.push_back(source.clock);
    if (!source.clock.unix_offset_ns) ++work.counters.clocks_unknown;
  }
  const std::vector<std::int64_t> shifts = shifts_to_run(read_clock(run.manifest()), clocks);
  for (std::size_t i = 0; i < shifts.size(); ++i) work.sources[i].shift_ns = shifts[i];
}

}  // namespace teller
