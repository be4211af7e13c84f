// The limits that control groups put on this process.
#pragma once

#include <string>

namespace teller::doctor_detail {

struct CgroupLimits {
  int version = 0;  // 1 or 2; 0 = cannot be read
  std::string
      memory;       // the lowest of the group and those above it, as its file says it; "" = unknown
  std::string cpu;  // "quota period" in µs: the same
};

// A limit for people: "none", "8192 MiB", "2.0 cores"; "unknown" for "".
std::string memory_text(const std::string& limit);
std::string cpu_text(const std::string& limit);

// `root` stands before /proc and /sys; for tests.
CgroupLimits cgroup_limits(const std::string& root);

}  // namespace teller::doctor_detail
