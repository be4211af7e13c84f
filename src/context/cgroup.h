// Limits, usage and throttling of control groups, versions 1 and 2. Private to context/ and its
// tests.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "context/host.h"

namespace teller {

// Where a process stands in the control groups. Equal places have equal records.
struct CgroupPlace {
  int version = 0;  // 1 or 2
  std::string cpu;  // path of its group below the controller's mount; of all controllers in 2
  std::string cpuacct;
  std::string memory;
  bool operator==(const CgroupPlace&) const = default;
};

// Reads /proc/PID/cgroup below `root`; nothing if the process is gone.
std::optional<CgroupPlace> cgroup_of(const std::string& root, std::int64_t pid);
// A record of the groups at `place`; what a file does not tell is left out. The limits are the
// lowest of the group and those above it, the rest is the group's own.
ContextRecord sample_cgroup(const std::string& root, const CgroupPlace& place);

}  // namespace teller
