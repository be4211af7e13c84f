#include "capture/in_flight.h"

#include <algorithm>
#include <utility>

namespace teller::capture {

namespace {

constexpr std::size_t kMostReported = 256;
constexpr std::size_t kMostSuspects = 4096;  // of all contexts together
// A launch that is younger when the process ends may have been done, its record on the way.
constexpr std::int64_t kDeliveredNs = 1'000'000'000;

}  // namespace

bool InFlight::is_done(const Launched& launch) const {
  return done_.contains(launch.correlation) ||
         (launch.nested != 0 && done_.contains(launch.nested));
}

void InFlight::report(TrackId thread, Launched launch) {
  std::vector<Launched>& reported = reported_[thread];
  if (reported.size() < kMostReported) reported.push_back(std::move(launch));
}

std::vector<Launched> InFlight::blame(TrackId thread, std::int64_t end_ns, std::int32_t error,
                                      const std::string& call) {
  std::vector<Launched> launches = std::move(reported_[thread]);
  reported_.erase(thread);
  std::erase_if(launches, [&](const Launched& launch) { return is_done(launch); });
  std::stable_sort(launches.begin(), launches.end(), [](const Launched& a, const Launched& b) {
    return a.begin_ns != b.begin_ns ? a.begin_ns < b.begin_ns : a.correlation < b.correlation;
  });
  for (const Launched& launch : launches) {
    if (suspects_.size() >= kMostSuspects) break;
    suspects_.insert({launch.correlation, {launch, end_ns, error, call}});
  }
  return launches;
}

std::optional<Suspect> InFlight::take_suspect(std::uint64_t correlation) {
  for (auto at = suspects_.begin(); at != suspects_.end(); ++at) {
    const Launched& launch = at->second.launch;
    if (launch.correlation != correlation && launch.nested != correlation) continue;
    Suspect suspect = std::move(at->second);
    suspects_.erase(at);
    return suspect;
  }
  return std::nullopt;
}

void InFlight::keep_last(Launched launch) {
  last_.push_back(std::move(launch));
}

std::vector<Suspect> InFlight::suspects() const {
  std::vector<Suspect> left;
  for (const auto& [id, suspect] : suspects_) {
    if (!is_done(suspect.launch)) left.push_back(suspect);
  }
  return left;
}

std::vector<Launched> InFlight::unfinished(std::int64_t ended_ns) const {
  std::vector<Launched> left;
  for (const Launched& launch : last_) {
    const bool fresh = launch.begin_ns > ended_ns - kDeliveredNs;
    if (fresh || is_done(launch) || suspects_.count(launch.correlation) > 0) continue;
    left.push_back(launch);
  }
  std::sort(left.begin(), left.end(),
            [](const Launched& a, const Launched& b) { return a.correlation < b.correlation; });
  return left;
}

}  // namespace teller::capture
