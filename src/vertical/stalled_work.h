// Device work that had not ended when the capture did, on a stream that had come to a stop. Private
// to vertical/.
#pragma once

#include <cstdint>
#include <vector>

#include "run_folder/chains.h"

namespace teller::vertical_detail {

// A stream that makes no progress any more.
struct StalledStream {
  std::uint32_t track = 0;
  std::uint32_t first = 0;   // node: the oldest piece of work that has not ended: the first suspect
  std::uint32_t last = 0;    // node: the newest
  std::uint32_t pieces = 0;  // that have not ended
  std::int64_t still_ns = 0;  // from when it could run to the last sign of life
};

// A stream stands still if its oldest open work could run for a second or more: since its launch,
// and since the last work that ended on the stream (where stream or device is not known: of that
// source). Longest first; ties by node.
std::vector<StalledStream> find_stalled_streams(const Chains& chains);
// The runtime or driver call of the same source that has not returned, if there is one: the oldest.
// kNoIndex if none.
std::uint32_t waiting_call(const Chains& chains, const StalledStream& stream);

}  // namespace teller::vertical_detail
