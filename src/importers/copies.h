// Inputs that hold the same bytes, compressed or not.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "teller/result.h"

namespace teller {

struct CopyCandidate {
  std::string path;
  std::string apart;  // files that differ in this are no copies, whatever they hold
};

// Beyond this a file is not compared: a small one may inflate to any size.
struct CopyLimits {
  std::uint64_t times = 300;                // the file's own size …
  std::uint64_t always_bytes = 1ull << 30;  // … unless it inflates to no more than this
};

// For each file the first one before it that holds the same bytes (inflated, where it is gzip or
// zstd), nothing if there is none. Blank files and those that can't be read are copies of none.
// Only files that begin alike are read as a whole. Fails with kInterrupted once `stop` (may be
// null) is set.
Result<std::vector<std::optional<std::size_t>>> find_copies(const std::vector<CopyCandidate>& files,
                                                            const std::atomic<bool>* stop,
                                                            const CopyLimits& limits = {});

}  // namespace teller
