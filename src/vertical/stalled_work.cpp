#include "vertical/stalled_work.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string_view>

#include "base/saturate.h"

namespace teller::vertical_detail {

namespace {

// Shorter than that, the capture may simply have ended before the work did.
constexpr std::int64_t kStillNs = 1'000'000'000;
constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::min();

bool is_device_work(const Chains& chains, std::uint32_t node) {
  return chains.nodes.layer[node] == static_cast<std::uint8_t>(Layer::kKernel);
}

bool is_open(const Chains& chains, std::uint32_t node) {
  return (chains.nodes.flags[node] & kNodeOpen) != 0;
}

// Of which stream a call did not say that it launches into it.
bool is_unknown_stream(const Chains& chains, std::uint32_t track) {
  return std::string_view(chains.string(chains.tracks.label[track])).find('?') !=
         std::string_view::npos;
}

// When the last work of each track, and of each source, ended: a device's tracks need not have the
// pid of the process that uses it.
struct LastEnds {
  std::map<std::uint32_t, std::int64_t> of_track;
  std::map<std::uint32_t, std::int64_t> of_source;
};

LastEnds last_ends(const Chains& chains) {
  LastEnds ends;
  for (std::uint32_t node = 0; node < chains.node_count(); ++node) {
    if (!is_device_work(chains, node) || is_open(chains, node)) continue;
    const std::uint32_t track = chains.nodes.track[node];
    const std::int64_t end = chains.nodes.end_ns[node];
    std::int64_t& on_track = ends.of_track.emplace(track, kNever).first->second;
    on_track = std::max(on_track, end);
    const std::uint32_t source = chains.tracks.source[track];
    std::int64_t& in_source = ends.of_source.emplace(source, kNever).first->second;
    in_source = std::max(in_source, end);
  }
  return ends;
}

std::int64_t last_end(const Chains& chains, const LastEnds& ends, std::uint32_t track) {
  if (is_unknown_stream(chains, track)) {
    const auto found = ends.of_source.find(chains.tracks.source[track]);
    return found == ends.of_source.end() ? kNever : found->second;
  }
  const auto found = ends.of_track.find(track);
  return found == ends.of_track.end() ? kNever : found->second;
}

}  // namespace

std::vector<StalledStream> find_stalled_streams(const Chains& chains) {
  std::map<std::uint32_t, StalledStream> streams;
  for (std::uint32_t node = 0; node < chains.node_count(); ++node) {
    if (!is_device_work(chains, node) || !is_open(chains, node)) continue;
    const std::uint32_t track = chains.nodes.track[node];
    StalledStream& stream = streams.emplace(track, StalledStream{track, node, node}).first->second;
    const auto& begin = chains.nodes.begin_ns;
    if (begin[node] < begin[stream.first]) stream.first = node;
    if (begin[node] >= begin[stream.last]) stream.last = node;
    ++stream.pieces;
  }
  std::vector<StalledStream> stalled;
  const LastEnds ends = streams.empty() ? LastEnds() : last_ends(chains);
  for (auto& [track, stream] : streams) {
    const std::int64_t could_run =
        std::max(chains.nodes.begin_ns[stream.first], last_end(chains, ends, track));
    stream.still_ns = saturating_sub(chains.nodes.end_ns[stream.first], could_run);
    if (stream.still_ns >= kStillNs) stalled.push_back(stream);
  }
  std::stable_sort(stalled.begin(), stalled.end(), [](const auto& a, const auto& b) {
    return a.still_ns != b.still_ns ? a.still_ns > b.still_ns : a.first < b.first;
  });
  return stalled;
}

std::uint32_t waiting_call(const Chains& chains, const StalledStream& stream) {
  std::uint32_t oldest = kNoIndex;
  for (std::uint32_t node = 0; node < chains.node_count(); ++node) {
    if (!is_open(chains, node) ||
        chains.nodes.layer[node] != static_cast<std::uint8_t>(Layer::kRuntime) ||
        chains.tracks.source[chains.nodes.track[node]] != chains.tracks.source[stream.track]) {
      continue;
    }
    if (oldest == kNoIndex || chains.nodes.begin_ns[node] < chains.nodes.begin_ns[oldest])
      oldest = node;
  }
  return oldest;
}

}  // namespace teller::vertical_detail
