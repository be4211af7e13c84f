#include "importers/run_timeline.h"

#include "base/saturate.h"

namespace teller {

namespace {

std::optional<std::int64_t> unix_offset(const nlohmann::ordered_json& clock) {
  const auto found = clock.find("unix_offset_ns");
  if (found == clock.end() || !found->is_number_integer()) return std::nullopt;
  return found->get<std::int64_t>();
}

}  // namespace

void RunTimeline::take(const SourceResult& source) {
  first_ = false;
  const auto offset = unix_offset(source.clock);
  if (!offset) return;
  if (clock_.is_null()) {
    clock_ = source.clock;
    times_.unix_offset_ns = offset;
  }
  // When its events were: logs lie near to them.
  if (source.layers.middle_ns && !times_.middle_unix_ns) {
    times_.middle_unix_ns = saturating_add(*source.layers.middle_ns, *offset);
  }
}

void RunTimeline::place(const nlohmann::ordered_json& clock, LogLine& line) const {
  const auto offset = unix_offset(clock);
  const auto run_offset = clock_.is_null() ? offset : unix_offset(clock_);
  std::int64_t shift = 0;
  std::int64_t time = line.t_ns.value_or(0);
  const bool known = offset && run_offset &&
                     !__builtin_sub_overflow(*offset, *run_offset, &shift) &&
                     !__builtin_add_overflow(time, shift, &time);
  if (line.t_ns && known) line.t_ns = time;
  if (!known && !first_) line.t_ns.reset();
}

}  // namespace teller
