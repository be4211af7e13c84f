#include "base/part_files.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "base/file.h"

namespace teller {
namespace {

// What is left of a file under way after `number` ended its writer; and how the writer ended.
struct Ended {
  bool is_left = false;
  int status = 0;
};

Ended end_writer(int number, void (*disposition)(int)) {
  const std::string path = testing::TempDir() + "/written-" + std::to_string(getpid());
  const pid_t child = fork();
  if (child == 0) {
    signal(number, disposition);
    remove_part_files_at_signals();
    if (!create_fresh(part_of(path))) _exit(9);
    raise(number);
    _exit(0);
  }
  Ended ended;
  waitpid(child, &ended.status, 0);
  const std::string part = path + "." + std::to_string(child) + ".part";
  ended.is_left = std::filesystem::exists(part);
  unlink(part.c_str());
  return ended;
}

TEST(PartFiles, ASignalThatEndsTheProgramTakesThemAway) {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    const Ended ended = end_writer(number, SIG_DFL);
    EXPECT_FALSE(ended.is_left) << number;
    EXPECT_TRUE(WIFSIGNALED(ended.status) && WTERMSIG(ended.status) == number) << ended.status;
  }
}

TEST(PartFiles, ASignalThatIsIgnoredStaysSo) {
  const Ended ended = end_writer(SIGHUP, SIG_IGN);
  EXPECT_TRUE(ended.is_left);
  EXPECT_TRUE(WIFEXITED(ended.status) && WEXITSTATUS(ended.status) == 0) << ended.status;
}

}  // namespace
}  // namespace teller
