// One clock per run.
#include "reconstruct/passes.h"

namespace teller {

void align_clocks(const RunFolder& run, Workspace& work) {
  SourceClock base = read_clock(run.manifest());
  for (const Source& source : work.sources) {
    if (!base.unix_offset_ns && source.clock.unix_offset_ns) base = source.clock;
  }
  for (Source& source : work.sources) {
    if (!source.clock.unix_offset_ns) ++work.counters.clocks_unknown;
    source.shift_ns = shift_between(source.clock, base);
  }
}

}  // namespace teller
