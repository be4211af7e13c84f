#include "capture/process_table.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "redact/redact.h"

namespace teller::capture {
namespace {

TEST(ProcessTable, AGreetingThatIsReadWhenItsSenderIsAZombieIsOfThatProcess) {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  siginfo_t info{};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT), 0);
  const Redactor redactor = std::move(Redactor::create({}).value());
  ProcessTable table("socket", &redactor);
  table.add_root(child, {"true"});
  table.set_gone(child);
  table.add_traced(child, getpid());
  EXPECT_EQ(table.alive(), 0U);
  RedactCounts counts;
  const std::string lines = table.to_jsonl(counts);
  ASSERT_EQ(std::count(lines.begin(), lines.end(), '\n'), 1) << lines;
  EXPECT_TRUE(nlohmann::json::parse(lines)["library"].get<bool>());
  EXPECT_EQ(waitpid(child, nullptr, 0), child);
}

}  // namespace
}  // namespace teller::capture
