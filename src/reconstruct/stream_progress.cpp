#include "reconstruct/stream_progress.h"

#include <algorithm>

namespace teller {

namespace {

void raise(std::int64_t& time, std::int64_t to) {
  time = std::max(time, to);
}

}  // namespace

void StreamProgress::note_ended(const LaunchPlace& launch, std::uint32_t track, bool graph) {
  raise(any_, launch.begin_ns);
  if (launch.stream < 0 || graph) raise(unnamed_, launch.begin_ns);
  if (launch.stream >= 0)
    raise(named_.try_emplace(launch.stream, kNever).first->second, launch.begin_ns);
  raise(on_track_.try_emplace(track, kNever).first->second, launch.begin_ns);
  note_used(launch.range, track);
}

void StreamProgress::note_used(std::uint32_t range, std::uint32_t track) {
  const std::uint64_t pair = (std::uint64_t{range} << 32 | track) + 1;
  std::uint64_t& recent = recent_[(range ^ track) % kRecent];
  if (recent == pair) return;
  recent = pair;
  on_track_.try_emplace(track, kNever);
  if (range == kNoIndex) return;
  std::vector<std::uint32_t>& tracks = tracks_of_range_[range];
  if (std::find(tracks.begin(), tracks.end(), track) == tracks.end()) tracks.push_back(track);
}

void StreamProgress::note_device_wait(std::int64_t begin_ns) {
  raise(device_wait_, begin_ns);
}

void StreamProgress::note_stream_wait(std::int64_t stream, std::int64_t begin_ns) {
  raise(stream_waits_.try_emplace(stream, kNever).first->second, begin_ns);
}

// Calls name streams by handles, device rows by numbers: only calls are compared with calls.
std::int64_t StreamProgress::passed_on_named(std::int64_t stream) const {
  const auto wait = stream_waits_.find(stream);
  const auto work = named_.find(stream);
  std::int64_t passed = unnamed_;
  if (wait != stream_waits_.end()) raise(passed, wait->second);
  if (work != named_.end()) raise(passed, work->second);
  return passed;
}

std::int64_t StreamProgress::passed_in_range(std::uint32_t range) const {
  const auto used = tracks_of_range_.find(range);
  if (used == tracks_of_range_.end()) return any_;
  std::int64_t passed = kNever;
  for (const std::uint32_t track : used->second) raise(passed, on_track_.at(track));
  return passed;
}

bool StreamProgress::has_passed(const LaunchPlace& launch) const {
  if (device_wait_ > launch.begin_ns) return true;
  std::int64_t passed = kNever;
  if (launch.stream >= 0) {
    passed = passed_on_named(launch.stream);
  } else {
    passed = passed_in_range(launch.range);
    // A wait that names no stream is for the only one there is.
    const auto wait = stream_waits_.find(-1);
    if (on_track_.size() == 1 && wait != stream_waits_.end()) raise(passed, wait->second);
  }
  return passed >= launch.end_ns;
}

}  // namespace teller
