#include "base/command.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

namespace teller {
namespace {

TEST(Command, OutputAndExitCode) {
  const auto done = run_command({"/bin/sh", "-c", "echo out; echo err >&2; echo $X; exit 3"}, 20000,
                                1000, {"X=added"});
  ASSERT_TRUE(done.ok());
  EXPECT_EQ(done->out, "out\nadded\n");
  EXPECT_EQ(done->err, "err\n");
  EXPECT_EQ(done->exit_code, 3);
}

TEST(Command, WhatTakesTooLongIsEnded) {
  const auto done = run_command({"/bin/sh", "-c", "sleep 600 & echo begun; wait"}, 300, 1000);
  ASSERT_TRUE(done.ok());
  EXPECT_TRUE(done->timed_out);
  EXPECT_EQ(done->exit_code, -1);
  EXPECT_EQ(done->out, "begun\n");
}

TEST(Command, WhatSaysTooMuchIsEnded) {
  const auto done = run_command({"/bin/sh", "-c", "while :; do echo 0123456789; done"}, 20000, 50);
  ASSERT_TRUE(done.ok());
  EXPECT_TRUE(done->cut);
  EXPECT_EQ(done->out.size(), 50u);
}

TEST(Command, ProgramsThatAreNot) {
  const auto done = run_command({"/nowhere/program"}, 20000, 1000);
  ASSERT_TRUE(done.ok());
  EXPECT_EQ(done->exit_code, 127);
  EXPECT_EQ(find_program("teller-no-such-program"), "");
  EXPECT_TRUE(find_program("sh").ends_with("/sh"));
}

TEST(Isolated, WorkThatCrashesCostsItsResultOnly) {
  const auto good = run_isolated([] { return std::string("result"); }, 20000, 1000);
  ASSERT_TRUE(good.ok());
  EXPECT_EQ(good->out, "result");
  EXPECT_EQ(good->exit_code, 0);
  const auto bad = run_isolated(
      [] {
        kill(getpid(), SIGKILL);
        return std::string();
      },
      20000, 1000);
  ASSERT_TRUE(bad.ok());
  EXPECT_EQ(bad->exit_code, -1);
}

}  // namespace
}  // namespace teller
