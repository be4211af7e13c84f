// How far the streams of one process have come: which launches must have ended because a stream
// runs its work in order. Private to reconstruct/ and its tests.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "run_folder/chains.h"

namespace teller {

// A launch, as far as its stream can be told.
struct LaunchPlace {
  std::int64_t stream = -1;        // that the call names; -1 where calls of this dialect name none
  std::uint32_t range = kNoIndex;  // name of the innermost range around it; kNoIndex for none
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
};

class StreamProgress {
 public:
  // Work of a launch from `range` (kNoIndex: of none) is on the device's stream `track`.
  void note_used(std::uint32_t range, std::uint32_t track);
  // Work of `launch` on the device's stream `track` ended. `graph`: one node of a graph, which may
  // run beside the stream that the graph was put on.
  void note_ended(const LaunchPlace& launch, std::uint32_t track, bool graph);
  // A wait for the whole device, that returned, began at this time.
  void note_device_wait(std::int64_t begin_ns);
  // A wait for a stream (-1: the call does not say which), that returned, began at this time.
  void note_stream_wait(std::int64_t stream, std::int64_t begin_ns);

  // True if the launch has ended, whatever was recorded of it: the device was waited for since, or
  // something ended that was launched after it on what may be its stream. That is the stream that
  // it names, else those that launches of the same range used before, else any.
  bool has_passed(const LaunchPlace& launch) const;

 private:
  // Most pairs of range and track are among the last ones.
  static constexpr std::size_t kRecent = 64;
  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::min();

  std::int64_t passed_on_named(std::int64_t stream) const;
  std::int64_t passed_in_range(std::uint32_t range) const;

  // The latest begin of a launch whose work ended.
  std::int64_t any_ = kNever;
  std::int64_t unnamed_ = kNever;                   // by calls that name no stream, and of graphs
  std::map<std::int64_t, std::int64_t> named_;      // by the stream that the call names
  std::map<std::uint32_t, std::int64_t> on_track_;  // by the device's stream
  std::map<std::uint32_t, std::vector<std::uint32_t>> tracks_of_range_;
  std::array<std::uint64_t, kRecent> recent_{};  // range and track, + 1 so that 0 is none
  std::int64_t device_wait_ = kNever;
  std::map<std::int64_t, std::int64_t> stream_waits_;  // by stream, -1 unknown
};

}  // namespace teller
