#include "doctor/cgroup_limits.h"

#include <gtest/gtest.h>

#include "../context/fake_root.h"

namespace teller::doctor_detail {
namespace {

TEST(CgroupLimits, TheLowestOnTheWayUpInVersion2) {
  FakeRoot root;
  root.write("proc/self/cgroup", "0::/pod/box\n");
  root.write("sys/fs/cgroup/cgroup.controllers", "cpu memory\n");
  root.write("sys/fs/cgroup/pod/memory.max", "1000\n");
  root.write("sys/fs/cgroup/pod/cpu.max", "50000 50000\n");
  root.write("sys/fs/cgroup/pod/box/memory.max", "max\n");
  root.write("sys/fs/cgroup/pod/box/cpu.max", "200000 100000\n");
  const CgroupLimits limits = cgroup_limits(root.path());
  EXPECT_EQ(limits.version, 2);
  EXPECT_EQ(limits.memory, "1000");
  EXPECT_EQ(limits.cpu, "50000 50000");
}

TEST(CgroupLimits, TheLowestOnTheWayUpInVersion1) {
  FakeRoot root;
  root.write("proc/self/cgroup", "4:memory:/pod/box\n3:cpu,cpuacct:/pod/box\n");
  root.write("sys/fs/cgroup/memory/pod/memory.limit_in_bytes", "4096\n");
  root.write("sys/fs/cgroup/memory/pod/box/memory.limit_in_bytes", "9223372036854771712\n");
  root.write("sys/fs/cgroup/cpu/pod/cpu.cfs_quota_us", "150000\n");
  root.write("sys/fs/cgroup/cpu/pod/cpu.cfs_period_us", "100000\n");
  root.write("sys/fs/cgroup/cpu/pod/box/cpu.cfs_quota_us", "-1\n");
  root.write("sys/fs/cgroup/cpu/pod/box/cpu.cfs_period_us", "100000\n");
  const CgroupLimits limits = cgroup_limits(root.path());
  EXPECT_EQ(limits.version, 1);
  EXPECT_EQ(limits.memory, "4096");
  EXPECT_EQ(limits.cpu, "150000 100000");
}

// A container may see its own group as the mount's root, under a path that is not there.
TEST(CgroupLimits, OfTheMountWhereThePathCannotBeSeen) {
  FakeRoot root;
  root.write("sys/fs/cgroup/cgroup.controllers", "cpu memory\n");
  root.write("sys/fs/cgroup/memory.max", "77\n");
  for (const char* path : {"0::/docker/abc\n", "0::/../abc\n", "0::/\n"}) {
    root.write("proc/self/cgroup", path);
    EXPECT_EQ(cgroup_limits(root.path()).memory, "77") << path;
    EXPECT_EQ(cgroup_limits(root.path()).cpu, "") << path;
  }
  EXPECT_EQ(cgroup_limits(root.path() + "/none").version, 0);
}

TEST(CgroupLimits, ForPeople) {
  EXPECT_EQ(memory_text(""), "unknown");
  EXPECT_EQ(memory_text("max"), "none");
  EXPECT_EQ(memory_text("9223372036854771712"), "none");
  EXPECT_EQ(memory_text("8589934592"), "8192 MiB");
  EXPECT_EQ(cpu_text("max 100000"), "none");
  EXPECT_EQ(cpu_text("-1 100000"), "none");
  EXPECT_EQ(cpu_text("150000 100000"), "1.5 cores");
}

}  // namespace
}  // namespace teller::doctor_detail
