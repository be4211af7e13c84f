#include "procfs/procfs.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "procfs/descriptors.h"
#include "procfs/sockets.h"

namespace teller {
namespace {

TEST(ProcStat, NamesMayHoldBlanksAndParentheses) {
  const auto stat =
      parse_stat("12 (a) (b) x) S 7 12 12 0 -1 4194304 1 0 0 0 30 12 0 0 20 0 1 0 555 1000 42 18");
  ASSERT_TRUE(stat.has_value());
  EXPECT_EQ(stat->comm, "a) (b) x");
  EXPECT_EQ(stat->state, 'S');
  EXPECT_EQ(stat->ppid, 7);
  EXPECT_EQ(stat->cpu_ticks, 42u);
  EXPECT_EQ(stat->start_ticks, 555u);
  EXPECT_EQ(stat->rss_pages, 42u);
}

TEST(ProcStat, WhatIsCutOrNoneIsSurvived) {
  EXPECT_FALSE(parse_stat("").has_value());
  EXPECT_FALSE(parse_stat("12 )x(").has_value());
  const auto cut = parse_stat("12 (x) S");
  ASSERT_TRUE(cut.has_value());
  EXPECT_EQ(cut->state, 'S');
  EXPECT_EQ(cut->start_ticks, 0u);
}

TEST(Procfs, ReadsItself) {
  const auto stat = read_stat(getpid());
  ASSERT_TRUE(stat.has_value());
  EXPECT_EQ(stat->ppid, getppid());
  int error = 0;
  EXPECT_EQ(read_proc(1LL << 40, "stat", &error), "");
  EXPECT_EQ(error, ENOENT);
}

TEST(Procfs, FieldsOfStatus) {
  const std::string status = "Name:\tx\nUid:\t0 0\nnonvoluntary_ctxt_switches:\t3\nvoluntary:\t9\n";
  EXPECT_EQ(status_field(status, "Uid"), "0 0");
  EXPECT_EQ(status_field(status, "voluntary"), "9");
  EXPECT_EQ(status_field(status, "None"), "");
}

TEST(Procfs, VariablesAreWholeNames) {
  using namespace std::string_literals;
  const std::string text = "LOCAL_RANK=7\0RANK=3\0EMPTY=\0LAST=x"s;
  EXPECT_EQ(variable_in(text, "RANK"), "3");
  EXPECT_EQ(variable_in(text, "EMPTY"), "");
  EXPECT_EQ(variable_in(text, "LAST"), "x");
  EXPECT_EQ(variable_in(text, "ANK"), "");
}

TEST(Sockets, PeersStatesAndQueues) {
  std::map<std::uint64_t, SocketInfo> sockets;
  parse_sockets(
      "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt uid timeout "
      "inode\n"
      "   0: 0100007F:1F90 00000000:0000 0A 00000000:00000002 00:00000000 00000000 0 0 101 1\n"
      "   1: 0100007F:1F90 0100007F:C350 01 0000001C:00000007 00:00000000 00000000 0 0 102 1\n"
      "   2: broken\n",
      "tcp", sockets);
  ASSERT_EQ(sockets.size(), 2u);
  EXPECT_EQ(sockets[101].state, "LISTEN");
  EXPECT_EQ(sockets[101].local_port, 8080);
  EXPECT_EQ(sockets[101].peer, "");
  EXPECT_EQ(sockets[102].peer, "127.0.0.1:50000");
  EXPECT_EQ(sockets[102].send_queue_bytes, 28u);
  EXPECT_EQ(sockets[102].receive_queue_bytes, 7u);
}

TEST(Descriptors, TargetsAndModes) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  bool found = false;
  for (const Descriptor& one : list_descriptors(getpid())) {
    if (one.fd != ends[1]) continue;
    found = true;
    EXPECT_TRUE(one.writable);
    EXPECT_TRUE(one.target.starts_with("pipe:["));
    EXPECT_GT(inode_of(one.target), 0u);
  }
  EXPECT_TRUE(found);
  EXPECT_EQ(inode_of("/a/file"), 0u);
  close(ends[0]);
  close(ends[1]);
}

}  // namespace
}  // namespace teller
