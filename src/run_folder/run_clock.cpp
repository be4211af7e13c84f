#include "run_folder/run_clock.h"

#include <cstdlib>
#include <nlohmann/json.hpp>

namespace teller {

using Json = nlohmann::ordered_json;

namespace {

constexpr std::int64_t kSameHostNs = 1'000'000'000;

std::string text_at(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

bool same_host(const SourceClock& a, const SourceClock& b, std::int64_t shift) {
  if (!a.host.empty() && !b.host.empty()) return a.host == b.host;
  return std::llabs(shift) < kSameHostNs;
}

}  // namespace

SourceClock read_clock(const Json& owner) {
  SourceClock clock;
  if (!owner.is_object()) return clock;
  clock.host = text_at(owner, "host");
  const auto host = owner.find("host");
  if (host != owner.end() && host->is_object()) clock.host = text_at(*host, "name");
  const auto found = owner.find("clock");
  if (found == owner.end() || !found->is_object()) return clock;
  clock.base = text_at(*found, "base");
  if (clock.host.empty()) clock.host = text_at(*found, "host");
  const auto offset = found->find("unix_offset_ns");
  if (offset != found->end() && offset->is_number_integer()) {
    clock.unix_offset_ns = offset->get<std::int64_t>();
  }
  return clock;
}

std::int64_t shift_between(const SourceClock& source, const SourceClock& run) {
  if (!source.unix_offset_ns || !run.unix_offset_ns) return 0;
  std::int64_t shift = 0;
  if (__builtin_sub_overflow(*source.unix_offset_ns, *run.unix_offset_ns, &shift)) return 0;
  // One monotonic clock: the offsets' difference is only the error of measuring them.
  const bool same_clock = source.base == "CLOCK_MONOTONIC" && run.base == source.base;
  return same_clock && same_host(source, run, shift) ? 0 : shift;
}

std::vector<std::int64_t> shifts_to_run(SourceClock run, const std::vector<SourceClock>& sources) {
  for (const SourceClock& source : sources) {
    if (!run.unix_offset_ns && source.unix_offset_ns) run = source;
  }
  std::vector<std::int64_t> shifts;
  for (const SourceClock& source : sources) shifts.push_back(shift_between(source, run));
  return shifts;
}

}  // namespace teller
