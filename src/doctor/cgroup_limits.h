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

// `root` stands before /proc and /sys; for tests.
CgroupLimits cgroup_limits(const std::string& root);

}  // namespace teller::doctor_detail
