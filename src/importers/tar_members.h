// The files in a tar archive (plain, gzip or zstd), as files of their own in a folder of ours.
// Archives are untrusted: what a member is called is a label and never a path, links and devices
// are left alone, and how much is written is bounded.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "teller/result.h"

namespace teller {

struct TarLimits {
  std::uint64_t members = 65'535;      // a run numbers no more sources
  std::uint64_t bytes = 256ull << 30;  // in all, inflated
  std::uint64_t times = 300;           // the archive's own size; what is larger is no trace …
  std::uint64_t always_bytes = 1ull << 30;  // … unless it is this small
};

// What stands in the archive under a name.
enum class TarKind : std::uint8_t {
  kFile,
  kFolder,
  kOther,  // links, devices: left alone
};

struct TarMember {
  TarKind kind = TarKind::kFile;
  std::string label;  // its name in the archive, as it is written there
  std::string path;   // where its bytes are; "" if it is no file
};

struct TarMembers {
  std::vector<TarMember> members;  // in the archive's order
  std::string damage;              // why reading stopped early; "" if the archive is whole
  std::vector<std::string> notes;  // what stands behind it and is no archive, one line each
};

// Writes the regular files of `archive` to `folder`/0, `folder`/1, … Archives that were joined are
// read one after the other. Stops at the first damage, which it says. Fails with kUnsupported
// beyond the limits, kIo if it can't write, kInterrupted on request.
Result<TarMembers> unpack_tar(const std::string& archive, const std::string& folder,
                              const std::atomic<bool>* stop, const TarLimits& limits = {});

}  // namespace teller
