// One clock per run.
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>

#include "reconstruct/passes.h"

namespace teller {

namespace {

using Json = nlohmann::ordered_json;

// Two processes of one host read the offset to Unix time at different moments and differ by little;
// two hosts booted at different times.
constexpr std::int64_t kSameHostNs = 1'000'000'000;

struct Clock {
  std::string base;
  std::optional<std::int64_t> unix_offset_ns;
};

Clock read_clock(const Json& owner) {
  Clock clock;
  const auto found = owner.find("clock");
  if (found == owner.end() || !found->is_object()) return clock;
  if (const auto base = found->find("base"); base != found->end() && base->is_string()) {
    clock.base = base->get<std::string>();
  }
  const auto offset = found->find("unix_offset_ns");
  if (offset != found->end() && offset->is_number_integer()) {
    clock.unix_offset_ns = offset->get<std::int64_t>();
  }
  return clock;
}

std::int64_t shift_between(const Clock& source, const Clock& run) {
  if (!source.unix_offset_ns || !run.unix_offset_ns) return 0;
  std::int64_t shift = 0;
  if (__builtin_sub_overflow(*source.unix_offset_ns, *run.unix_offset_ns, &shift)) return 0;
  // One monotonic clock: the offsets' difference is only the error of measuring them.
  const bool same_clock = source.base == "CLOCK_MONOTONIC" && run.base == source.base;
  return same_clock && std::llabs(shift) < kSameHostNs ? 0 : shift;
}

}  // namespace

void align_clocks(const RunFolder& run, Workspace& work) {
  std::vector<Clock> clocks;
  for (const Source& source : work.sources) {
    clocks.push_back(read_clock(Json::parse(source.file.meta_json(), nullptr, false)));
  }
  Clock base = read_clock(run.manifest());
  for (const Clock& clock : clocks) {
    if (!base.unix_offset_ns && clock.unix_offset_ns) base = clock;
  }
  for (std::size_t i = 0; i < clocks.size(); ++i) {
    if (!clocks[i].unix_offset_ns) ++work.counters.clocks_unknown;
    work.sources[i].shift_ns = shift_between(clocks[i], base);
  }
}

}  // namespace teller
