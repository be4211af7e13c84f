#include "importers/kineto_tracks.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>

namespace teller {

namespace {

// A text may hold any number of places: beyond so many, all are forgotten (the writer gives the
// same track for them again), and annotations without a stream get a track of their own.
constexpr std::size_t kMostKnown = 1u << 16;

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return value;
}

// The number at the end of a name ("stream 7" -> 7); -1 if there is none.
std::int64_t trailing_number(std::string_view text) {
  if (const auto number = whole_number(text)) return *number;
  std::size_t begin = text.size();
  while (begin > 0 && text[begin - 1] >= '0' && text[begin - 1] <= '9') --begin;
  return whole_number(text.substr(begin)).value_or(-1);
}

}  // namespace

const std::string& KinetoTracks::make_key(char type, const KinetoPlace& place) {
  key_.assign(1, type);
  for (const std::string_view part :
       {place.pid, place.tid, place.device, place.stream, place.context}) {
    key_ += part;
    key_ += '\0';
  }
  return key_;
}

TrackId KinetoTracks::host(const KinetoPlace& place) {
  const KinetoPlace thread{place.pid, place.tid, {}, {}, {}};
  const std::string& key = make_key('h', thread);
  const auto found = known_.find(key);
  return found != known_.end() ? found->second : remember(key, new_host(thread));
}

TrackId KinetoTracks::new_host(const KinetoPlace& place) {
  const auto pid = whole_number(place.pid);
  const auto tid = whole_number(place.tid);
  TrackRecord track;
  const bool thread = pid.has_value() && tid.has_value();
  track.kind = static_cast<std::uint32_t>(thread ? TrackKind::kHostThread : TrackKind::kOther);
  track.pid = pid.value_or(0);
  track.tid = tid.value_or(0);
  if (!thread) {
    track.device_label = writer_.intern(place.pid);
    track.stream_label = writer_.intern(place.tid);
  }
  return writer_.track(track);
}

TrackId KinetoTracks::device(const KinetoPlace& place) {
  // Annotations on a stream come without its context: they share the track of its kernels.
  if (place.device.empty() && place.stream.empty() && place.context.empty()) {
    const auto seen = streams_.find(make_key('s', {place.pid, place.tid, {}, {}, {}}));
    if (seen != streams_.end()) return seen->second;
  }
  const std::string& key = make_key('d', place);
  const auto found = known_.find(key);
  if (found != known_.end()) return found->second;
  const TrackId track = remember(key, new_device(place));
  if (streams_.size() < kMostKnown) {
    const auto& pair = make_key('s', {place.pid, place.tid, {}, {}, {}});
    // What has no track of its own may lie on this one now.
    if (streams_.emplace(pair, track).second) ++version_;
  }
  return track;
}

TrackId KinetoTracks::remember(const std::string& key, TrackId track) {
  if (known_.size() >= kMostKnown) known_.clear();
  return known_.emplace(key, track).first->second;
}

TrackId KinetoTracks::new_device(const KinetoPlace& place) {
  const std::string_view device = place.device.empty() ? place.pid : place.device;
  const std::string_view stream = place.stream.empty() ? place.tid : place.stream;
  TrackRecord track;
  track.kind = static_cast<std::uint32_t>(TrackKind::kDeviceStream);
  track.device = static_cast<std::int32_t>(whole_number(device).value_or(-1));
  track.stream = trailing_number(stream);
  track.context = whole_number(place.context).value_or(-1);
  track.device_label = writer_.intern(device);
  track.stream_label = writer_.intern(stream);
  return writer_.track(track);
}

TrackId KinetoTracks::flow(const KinetoPlace& place) {
  const auto seen = streams_.find(make_key('s', {place.pid, place.tid, {}, {}, {}}));
  return seen != streams_.end() ? seen->second : host(place);
}

}  // namespace teller
