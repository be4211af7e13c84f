// One clock per run.
#include <cstdlib>

#include "reconstruct/json_fields.h"
#include "reconstruct/passes.h"

namespace teller {

namespace {

// Two processes of one host read the offset to Unix time at different moments and differ by little;
// two hosts booted at different times. Where both say their host that decides.
constexpr std::int64_t kSameHostNs = 1'000'000'000;

std::int64_t shift_between(const SourceClock& source, const SourceClock& run) {
  if (!source.unix_offset_ns || !run.unix_offset_ns) return 0;
  std::int64_t shift = 0;
  if (__builtin_sub_overflow(*source.unix_offset_ns, *run.unix_offset_ns, &shift)) return 0;
  // One monotonic clock: the offsets' difference is only the error of measuring them.
  const bool same_clock = source.base == "CLOCK_MONOTONIC" && run.base == source.base;
  if (!same_clock) return shift;
  const bool hosts_known = !source.host.empty() && !run.host.empty();
  const bool same_host = hosts_known ? source.host == run.host : std::llabs(shift) < kSameHostNs;
  return same_host ? 0 : shift;
}

}  // namespace

SourceClock read_clock(const nlohmann::ordered_json& owner) {
  SourceClock clock;
  const auto host = owner.find("host");
  if (host != owner.end() && host->is_string()) clock.host = host->get<std::string>();
  if (host != owner.end() && host->is_object()) clock.host = text_of(*host, "name");
  const auto found = owner.find("clock");
  if (found == owner.end() || !found->is_object()) return clock;
  clock.base = text_of(*found, "base");
  const auto offset = found->find("unix_offset_ns");
  if (offset != found->end() && offset->is_number_integer()) {
    clock.unix_offset_ns = offset->get<std::int64_t>();
  }
  return clock;
}

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
