// Whether all ranks are slow alike: against healthy runs, or against the begin of the same run.
#include <algorithm>
#include <cmath>

#include "horizontal/comparison.h"
#include "horizontal/middle.h"

namespace teller::horizontal_detail {

namespace {

constexpr double kSlower = 1.25;  // at least, of all ranks, against healthy runs
constexpr double kSlowerThanBefore =
    1.5;                                // against the run's own begin: loads change without a fault
constexpr std::size_t kLeastUnits = 3;  // before and after a change
constexpr std::size_t kLeastOfRun = 8;  // to look for one
constexpr std::size_t kMostPlaces = 64;  // that are tried
// A change is one only if hardly any step of one side looks like the other side's.
constexpr double kApart = 0.8;

std::vector<double> lengths_of(const Comparison& found) {
  std::vector<double> lengths;
  for (const Unit& unit : found.lateness.units) lengths.push_back(unit.length_ns);
  return lengths;
}

std::vector<double> own_of(const Comparison& found, std::size_t rank) {
  std::vector<double> own;
  for (const Unit& unit : found.lateness.units) own.push_back(unit.own_ns[rank]);
  return own;
}

std::vector<double> part(const std::vector<double>& values, std::size_t begin, std::size_t end) {
  return {values.begin() + static_cast<std::ptrdiff_t>(begin),
          values.begin() + static_cast<std::ptrdiff_t>(end)};
}

bool apart(const std::vector<double>& before, const std::vector<double>& after) {
  return quantile(after, 1 - kApart) > quantile(before, kApart);
}

double distance_from_median(const std::vector<double>& values) {
  const double centre = median(values);
  double sum = 0;
  for (const double value : values) sum += std::abs(value - centre);
  return sum;
}

// The place where steps become slower for good, at which both sides lie closest about their
// medians; 0 for none. Unit 0 has no length.
std::size_t change_in(const std::vector<double>& lengths) {
  std::size_t best = 0;
  double least = 0;
  const std::size_t stride = std::max<std::size_t>(1, lengths.size() / kMostPlaces);
  for (std::size_t at = 1 + kLeastUnits; at + kLeastUnits <= lengths.size(); at += stride) {
    const auto before = part(lengths, 1, at), after = part(lengths, at, lengths.size());
    const double was = median(before);
    if (was <= 0 || median(after) <= kSlowerThanBefore * was || !apart(before, after)) continue;
    const double found = distance_from_median(before) + distance_from_median(after);
    if (best != 0 && found >= least) continue;
    least = found;
    best = at;
  }
  return best;
}

bool against_healthy(const Comparison& found, const Pace& healthy,
                     std::vector<std::string>& evidence) {
  const Pace& own = found.pace;
  if (healthy.units < kLeastUnits || own.units < kLeastUnits || healthy.step_ns <= 0) return false;
  if (own.step_ns < kSlower * healthy.step_ns) return false;
  const double usual = median(healthy.own_ns);
  // Every rank on its own: one slow rank makes all steps long, but not the others' own time.
  double least = own.step_ns;
  for (const double ns : own.own_ns) least = std::min(least, ns);
  if (usual <= 0 || least - usual < (kSlower - 1) * healthy.step_ns) return false;
  evidence.push_back("all ranks are slower than in the healthy runs: a step takes " +
                     time_text(own.step_ns) + " (healthy: " + time_text(healthy.step_ns) +
                     "), and outside collectives even the fastest rank takes " + time_text(least) +
                     " (healthy: " + time_text(usual) + ")");
  return true;
}

bool against_begin(const Comparison& found, std::vector<std::string>& evidence) {
  const std::vector<double> lengths = lengths_of(found);
  if (lengths.size() < kLeastOfRun) return false;
  const std::size_t at = change_in(lengths);
  if (at == 0) return false;
  const double was = median(part(lengths, 1, at));
  const double is = median(part(lengths, at, lengths.size()));
  for (std::size_t rank = 0; rank < found.operations.ranks.size(); ++rank) {
    const std::vector<double> own = own_of(found, rank);
    const auto before = part(own, 1, at), after = part(own, at, own.size());
    if (median(after) - median(before) < (kSlowerThanBefore - 1) * was || !apart(before, after))
      return false;
  }
  const std::int64_t step = found.lateness.units[at].step;
  evidence.push_back(
      "all ranks become slower alike " +
      (step >= 0 ? "from step " + std::to_string(step) : "from collective " + std::to_string(at)) +
      " on: a step took " + time_text(was) + " before and takes " + time_text(is) +
      " since, outside collectives too");
  return true;
}

}  // namespace

Pace find_pace(const Comparison& found) {
  Pace pace;
  std::vector<double> lengths = lengths_of(found);
  if (!lengths.empty()) lengths.erase(lengths.begin());
  pace.units = lengths.size();
  pace.step_ns = median(lengths);
  for (std::size_t rank = 0; rank < found.operations.ranks.size(); ++rank) {
    std::vector<double> own = own_of(found, rank);
    if (!own.empty()) own.erase(own.begin());
    pace.own_ns.push_back(median(std::move(own)));
  }
  std::vector<double> transfers;
  for (const Measure& one : found.measures) {
    if (one.transfer_ns >= 0) transfers.push_back(one.transfer_ns);
  }
  pace.transfer_ns = median(std::move(transfers));
  return pace;
}

std::optional<bool> uniform_slowness(const Comparison& found, const Pace* healthy,
                                     std::vector<std::string>& evidence) {
  const bool slow = healthy != nullptr ? against_healthy(found, *healthy, evidence)
                                       : against_begin(found, evidence);
  if (slow) return true;
  return std::nullopt;
}

}  // namespace teller::horizontal_detail
