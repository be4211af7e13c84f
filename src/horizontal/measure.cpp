#include "horizontal/measure.h"

#include <algorithm>

#include "horizontal/facts.h"
#include "horizontal/middle.h"

namespace teller::horizontal_detail {

namespace {

constexpr double kNsPerSecond = 1e9;
constexpr double kBearableNs = 1e6;
constexpr double kBearableResiduals = 20;

void fill_waits(Measure& one) {
  double first = one.arrivals[0].begin_ns;
  one.last_begin_ns = first;
  one.last = one.arrivals[0].rank;
  for (const Arrival& arrival : one.arrivals) {
    first = std::min(first, arrival.begin_ns);
    if (arrival.begin_ns <= one.last_begin_ns) continue;
    one.last_begin_ns = arrival.begin_ns;
    one.last = arrival.rank;
  }
  one.spread_ns = one.last_begin_ns - first;
  for (Arrival& arrival : one.arrivals) {
    const double until = std::min(one.last_begin_ns, std::max(arrival.end_ns, arrival.begin_ns));
    arrival.wait_ns = until - arrival.begin_ns;
  }
}

// Whether the last one came after the others had left. Clocks that are not quite aligned are borne
// with.
bool is_impossible(const Measure& one, double residual_ns) {
  std::vector<double> ends;
  for (const Arrival& arrival : one.arrivals) {
    if (arrival.rank != one.last) ends.push_back(arrival.end_ns);
  }
  const double bearable = std::max(kBearableNs, kBearableResiduals * residual_ns);
  return one.last_begin_ns > median(std::move(ends)) + bearable;
}

void fill_transfer(const Operation& operation, std::string_view name, Measure& one) {
  std::vector<double> ends;
  for (const Arrival& arrival : one.arrivals) ends.push_back(arrival.end_ns);
  one.transfer_ns = std::max(median(std::move(ends)) - one.last_begin_ns, 0.0);
  const double factor = bus_factor(name, one.arrivals.size());
  if (operation.bytes <= 0 || factor <= 0 || one.transfer_ns <= 0) return;
  one.bus_bytes_per_s =
      static_cast<double>(operation.bytes) * factor / one.transfer_ns * kNsPerSecond;
}

}  // namespace

std::vector<Measure> measure(const Operations& operations, const Matching& matching,
                             const Clocks& clocks) {
  std::vector<Measure> list;
  list.reserve(matching.collectives.size());
  for (const Collective& collective : matching.collectives) {
    Measure one;
    for (const Member& member : collective.members) {
      const Operation& operation = operations.ranks[member.rank].list[member.at];
      one.open = one.open || operation.open;
      if (!clocks.ranks[member.rank].aligned) continue;
      one.arrivals.push_back({member.rank, clocks.aligned(member.rank, operation.begin_ns),
                              clocks.aligned(member.rank, operation.end_ns), 0});
    }
    if (one.arrivals.size() >= 2) {
      const Member& member = collective.shown;
      const Operation& first = operations.ranks[member.rank].list[member.at];
      fill_waits(one);
      const std::string_view name = operations.texts.view(first.operation);
      one.impossible =
          !one.open && is_synchronising(name) && is_impossible(one, clocks.residual_ns);
      const bool whole =
          !one.open && !one.impossible && !collective.mismatched && collective.absent.empty();
      if (whole) fill_transfer(first, name, one);
    }
    list.push_back(std::move(one));
  }
  return list;
}

}  // namespace teller::horizontal_detail
