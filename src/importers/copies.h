// Inputs that are the same: one file, or files of the same bytes, compressed or not.
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
  std::string apart = {};  // files that differ in this are no copies, whatever they hold
  // Different files that differ in this are no copies either: for what may hold the same by chance.
  std::string twin = {};
};

// `path` without the suffix that says how it is compressed: equal for a file and its compressed
// twin, which lies beside it.
std::string twin_name(std::string path);

// Beyond this a file is not compared: a small one may inflate to any size.
struct CopyLimits {
  std::uint64_t times = 300;                // the file's own size …
  std::uint64_t always_bytes = 1ull << 30;  // … unless it inflates to no more than this
};

// For each file the first one before it that is the same file (whatever the path to it) or holds
// the same bytes (inflated, where it is gzip or zstd), nothing if there is none. Blank files hold
// the same as none, nor do those that can't be read. Only files that begin alike are read as a
// whole. Fails with kInterrupted once `stop` (may be null) is set.
Result<std::vector<std::optional<std::size_t>>> find_copies(const std::vector<CopyCandidate>& files,
                                                            const std::atomic<bool>* stop,
                                                            const CopyLimits& limits = {});

}  // namespace teller
