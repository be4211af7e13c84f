// Control groups of both versions, from trees as kernels show them.
#include "context/cgroup.h"

#include <gtest/gtest.h>

#include "fake_root.h"

namespace teller {
namespace {

ContextRecord sample(const FakeRoot& root) {
  const auto place = cgroup_of(root.path(), 7);
  return place ? sample_cgroup(root.path(), *place) : ContextRecord();
}

TEST(Cgroup, Version2TakesTheLowestLimitOnTheWayUp) {
  FakeRoot root;
  root.write("proc/7/cgroup", "0::/slice/pod/box\n");
  const std::string group = "sys/fs/cgroup/slice/pod/box/";
  root.write(group + "cpu.max", "400000 100000\n");
  root.write("sys/fs/cgroup/slice/pod/cpu.max", "150000 100000\n");
  root.write("sys/fs/cgroup/slice/cpu.max", "900000 100000\n");
  root.write("sys/fs/cgroup/cpu.max", "max 100000\n");
  root.write(group + "memory.max", "max\n");
  root.write("sys/fs/cgroup/slice/pod/memory.max", "8589934592\n");
  root.write(group + "cpu.stat",
             "usage_usec 5000\nuser_usec 1\nnr_periods 40\nnr_throttled 8\nthrottled_usec 900\n");
  root.write(group + "memory.current", "4096\n");
  root.write(group + "memory.peak", "8192\n");
  root.write(group + "memory.events",
             "low 0\nhigh 0\nmax 3\noom 1\noom_kill 1\noom_group_kill 0\n");
  EXPECT_EQ(sample(root).dump(),
            R"({"kind":"cgroup","version":2,"path":"/slice/pod/box","cpu_limit":1.5,)"
            R"("memory_limit":8589934592,"cpu_usage_ns":5000000,"periods":40,)"
            R"("throttled_periods":8,"throttled_ns":900000,"memory_bytes":4096,)"
            R"("memory_peak":8192,"memory_limit_hits":3,"oom_kills":1})");
}

TEST(Cgroup, Version2WithoutControllersTellsNoLimits) {
  FakeRoot root;
  root.write("proc/7/cgroup", "0::/\n");
  root.write("sys/fs/cgroup/cpu.stat", "usage_usec 5\n");
  const ContextRecord record = sample(root);
  EXPECT_TRUE(record["cpu_limit"].is_null());
  EXPECT_TRUE(record["memory_limit"].is_null());
  EXPECT_EQ(record["cpu_usage_ns"], 5000);
  EXPECT_FALSE(record.contains("throttled_ns"));
}

TEST(Cgroup, Version1ReadsEachControllersGroup) {
  FakeRoot root;
  root.write("proc/7/cgroup",
             "5:cpuset:/x\n4:memory:/box\n2:cpu,cpuacct:/\n1:name=systemd:/\n0::/\n");
  root.write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
  root.write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  root.write("sys/fs/cgroup/cpu/cpu.stat", "nr_periods 4\nnr_throttled 2\nthrottled_time 77\n");
  root.write("sys/fs/cgroup/cpuacct/cpuacct.usage", "123\n");
  root.write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  root.write("sys/fs/cgroup/memory/box/memory.limit_in_bytes", "1048576\n");
  root.write("sys/fs/cgroup/memory/box/memory.usage_in_bytes", "4096\n");
  root.write("sys/fs/cgroup/memory/box/memory.failcnt", "9\n");
  root.write("sys/fs/cgroup/memory/box/memory.oom_control",
             "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n");
  const ContextRecord record = sample(root);
  EXPECT_EQ(record["version"], 1);
  EXPECT_TRUE(record["cpu_limit"].is_null());
  EXPECT_EQ(record["memory_limit"], 1048576);
  EXPECT_EQ(record["cpu_usage_ns"], 123);
  EXPECT_EQ(record["throttled_ns"], 77);
  EXPECT_EQ(record["memory_limit_hits"], 9);
  EXPECT_EQ(record["oom_kills"], 2);
}

TEST(Cgroup, AContainerSeesItsGroupAtTheMount) {
  FakeRoot root;
  root.write("proc/7/cgroup", "0::/docker/abc\n");
  root.write("sys/fs/cgroup/memory.max", "2048\n");
  EXPECT_EQ(sample(root)["memory_limit"], 2048);
}

TEST(Cgroup, NonsenseIsLeftOut) {
  FakeRoot root;
  root.write("proc/7/cgroup", "garbage\n0::/../../x\n0::/a\n");
  root.write("sys/fs/cgroup/a/cpu.max", "x y z\n");
  root.write("sys/fs/cgroup/a/cpu.stat", "nr_periods\nnr_throttled many\n");
  root.write("sys/fs/cgroup/a/memory.current", "99999999999999999999999\n");
  EXPECT_EQ(sample(root).dump(),
            R"({"kind":"cgroup","version":2,"path":"/a","cpu_limit":null,"memory_limit":null})");
  EXPECT_FALSE(cgroup_of(root.path(), 8));
}

}  // namespace
}  // namespace teller
