// Samples of /proc, from a tree with known numbers and from the machine itself.
#include "context/host.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <thread>
#include <utility>
#include <vector>

#include "context/context.h"
#include "fake_root.h"

namespace teller {
namespace {

TEST(HostSample, ReadsAProcess) {
  FakeRoot root;
  root.write("proc/7/stat",
             "7 (a) b) S 1 7 7 0 -1 4194304 11 0 3 0 200 100 0 0 20 0 9 0 555 1000 25 1 1\n");
  root.write("proc/7/status",
             "Name:\ta\nvoluntary_ctxt_switches:\t5\nnonvoluntary_ctxt_switches:\t6\n");
  root.write("proc/7/io", "rchar: 1\nread_bytes: 4096\nwrite_bytes: 8192\n");
  const auto record = sample_process(root.path(), 7);
  ASSERT_TRUE(record);
  const auto tick = static_cast<std::uint64_t>(1'000'000'000 / sysconf(_SC_CLK_TCK));
  EXPECT_EQ((*record)["state"], "S");
  EXPECT_EQ((*record)["minor_faults"], 11);
  EXPECT_EQ((*record)["major_faults"], 3);
  EXPECT_EQ((*record)["user_ns"], 200 * tick);
  EXPECT_EQ((*record)["sys_ns"], 100 * tick);
  EXPECT_EQ((*record)["threads"], 9);
  EXPECT_EQ((*record)["rss"], 25 * sysconf(_SC_PAGESIZE));
  EXPECT_EQ((*record)["voluntary_switches"], 5);
  EXPECT_EQ((*record)["involuntary_switches"], 6);
  EXPECT_EQ((*record)["read_bytes"], 4096);
  EXPECT_EQ((*record)["written_bytes"], 8192);
  EXPECT_FALSE(sample_process(root.path(), 8));
}

TEST(HostSample, ReadsTheHost) {
  FakeRoot root;
  root.write("proc/loadavg", "1.50 2 3 1/100 5\n");
  root.write("proc/meminfo", "MemTotal: 100 kB\nMemAvailable:  40 kB\n");
  root.write("proc/pressure/cpu", "some avg10=1.0 avg60=0 avg300=0 total=77\n");
  root.write("proc/net/dev",
             "Inter-|\n face |\n lo: 9 9 9 9 0 0 0 0 9 9 9 9 0 0 0 0\n"
             "eth0:10 1 2 3 0 0 0 0 20 4 5 6 0 0 0 0\n eth1: 1 1 1 1 0 0 0 0 1 1 1 1 0 0 0 0\n");
  root.write("proc/diskstats", "8 0 sda 1 0 4 0 1 0 2 0 0 30 0\n8 1 sda1 1 0 4 0 1 0 2 0 0 30 0\n");
  root.write("sys/block/sda/size", "1\n");
  const ContextRecord record = sample_host(root.path());
  EXPECT_EQ(record["load1"], 1.5);
  EXPECT_EQ(record["memory_total"], 102400);
  EXPECT_EQ(record["memory_available"], 40960);
  EXPECT_EQ(record["pressure"].dump(), R"({"cpu":{"some_us":77}})");
  EXPECT_EQ(record["network"]["rx_bytes"], 11);
  EXPECT_EQ(record["network"]["tx_errors"], 6);
  EXPECT_EQ(record["disk"].dump(), R"({"read_bytes":2048,"written_bytes":1024,"busy_ms":30})");
}

TEST(HostSample, AnEmptyRootGivesAnEmptyRecord) {
  FakeRoot root;
  EXPECT_EQ(sample_host(root.path()).dump(), R"({"kind":"host"})");
}

TEST(Context, SamplesThisProcess) {
  Context context({});
  context.set_processes({{getpid(), {"test"}}});
  context.finish();
  const std::string lines = context.take_lines();
  EXPECT_NE(lines.find("\"kind\":\"process\",\"pid\":" + std::to_string(getpid())),
            std::string::npos);
  EXPECT_NE(lines.find("\"kind\":\"host\""), std::string::npos);
  EXPECT_EQ(context.counts().records,
            static_cast<std::uint64_t>(std::count(lines.begin(), lines.end(), '\n')));
  EXPECT_EQ(context.take_lines(), "");
}

// So many processes that a sample of them lasts far longer than finish() waits; the first tells
// that it has begun.
TEST(Context, ASampleThatHangsIsLeftBehind) {
  FakeRoot root;
  root.write("proc/7/stat",
             "7 (a) S 1 7 7 0 -1 4194304 11 0 3 0 200 100 0 0 20 0 9 0 555 1000 25 1 1\n");
  ContextOptions options;
  options.root = root.path();
  options.find_engines = false;
  Context context(options);
  std::vector<ContextProcess> processes(3'000'000, ContextProcess{8, {}});
  processes.front().pid = 7;
  context.set_processes(std::move(processes));
  while (context.take_lines().empty()) std::this_thread::yield();
  context.finish();
  EXPECT_EQ(context.take_lines().find("\"kind\":\"host\""), std::string::npos);
}

}  // namespace
}  // namespace teller
