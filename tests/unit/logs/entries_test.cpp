// Lines that belong together become one entry, whoever writes between them.
#include "logs/entries.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace teller {
namespace {

std::vector<std::uint32_t> heads(const std::vector<std::string>& lines) {
  LogEntries entries;
  std::vector<std::uint32_t> found;
  for (const std::string& text : lines) {
    const LogFields fields = parse_line(text);
    const auto row = static_cast<std::uint32_t>(found.size());
    found.push_back(entries.place({"stderr", 1, 1000, false, &fields}, row));
  }
  return found;
}

using Rows = std::vector<std::uint32_t>;

TEST(LogEntries, ATracebackWithWhatItChainsIsOne) {
  EXPECT_EQ(heads({"Traceback (most recent call last):", "  File \"a.py\", line 1, in f", "    g()",
                   "ValueError: x", "",
                   "During handling of the above exception, another exception occurred:", "",
                   "Traceback (most recent call last):", "  File \"a.py\", line 2, in g",
                   "RuntimeError: y", "unrelated"}),
            (Rows{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 10}));
}

TEST(LogEntries, TwoTracebacksAreTwo) {
  EXPECT_EQ(
      heads({"Traceback (most recent call last):", "  File \"a.py\", line 1", "ValueError: x",
             "Traceback (most recent call last):", "  File \"a.py\", line 2", "RuntimeError: y"}),
      (Rows{0, 0, 0, 3, 3, 3}));
}

TEST(LogEntries, PrefixedTracebacksOfTwoProcessesAreToldApart) {
  const auto a = [](const std::string& text) {
    return "(Worker_TP0 pid=7) ERROR 11-03 23:14:01 [core.py:1] " + text;
  };
  const auto b = [](const std::string& text) {
    return "(Worker_TP1 pid=8) ERROR 11-03 23:14:01 [core.py:1] " + text;
  };
  EXPECT_EQ(heads({a("WorkerProc hit an exception."), b("WorkerProc hit an exception."),
                   a("Traceback (most recent call last):"), b("Traceback (most recent call last):"),
                   a("  File \"x.py\", line 3"), b("  File \"x.py\", line 3"), a("RuntimeError: a"),
                   b("RuntimeError: b"), a("WorkerProc hit an exception.")}),
            (Rows{0, 1, 0, 1, 0, 1, 0, 1, 8}));
}

TEST(LogEntries, ATracebackBelongsToTheMessageThatLoggedIt) {
  EXPECT_EQ(heads({"[2026-07-21 08:04:41 TP0] Scheduler hit an exception: Traceback (most recent "
                   "call last):",
                   "  File \"a.py\", line 1", "torch.OutOfMemoryError: CUDA out of memory.",
                   "[2026-07-21 08:04:41 TP1] Decode batch. #running-req: 36"}),
            (Rows{0, 0, 0, 3}));
  EXPECT_EQ(heads({"ERROR:root:failed", "Traceback (most recent call last):",
                   "  File \"a.py\", line 1", "KeyError: 'x'"}),
            (Rows{0, 0, 0, 0}));
}

TEST(LogEntries, CudaBlocksAndCppFramesStayWithTheirError) {
  EXPECT_EQ(
      heads({"[rank3]:[E410 14:46:34.6 ProcessGroupNCCL.cpp:1896] [Rank 3] CUDA error: an illegal "
             "memory access was encountered",
             "Search for `cudaErrorIllegalAddress' in https://docs.nvidia.com/",
             "CUDA kernel errors might be asynchronously reported at some other API call",
             "For debugging consider passing CUDA_LAUNCH_BLOCKING=1",
             "Compile with `TORCH_USE_CUDA_DSA` to enable device-side assertions.", "",
             "Exception raised from c10_cuda_check_implementation at ../c10/cuda/x.cpp:43 (most "
             "recent call first):",
             "frame #0: c10::Error::Error(...)", "frame #1: <unknown function>",
             "INFO 02-25 11:11:31 [a.py:1] next"}),
      (Rows{0, 0, 0, 0, 0, 0, 0, 0, 0, 9}));
}

TEST(LogEntries, TorchelasticsFailuresEndAtTheirRule) {
  const std::string rule(60, '=');
  EXPECT_EQ(heads({"Traceback (most recent call last):", "  File \"a.py\", line 1",
                   "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: ", rule,
                   "train.py FAILED", std::string(60, '-'), "Root Cause (first observed failure):",
                   "[0]:", "  exitcode  : -6 (pid: 9)", rule, "bye"}),
            (Rows{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 10}));
  EXPECT_EQ(heads({rule, "a banner", rule}), (Rows{0, 1, 2})) << "no error before it";
}

TEST(LogEntries, OtherStreamsAndLaterLinesAreOthers) {
  LogEntries entries;
  const LogFields head = parse_line("Traceback (most recent call last):");
  const LogFields frame = parse_line("  File \"a.py\", line 1");
  EXPECT_EQ(entries.place({"stderr", 1, 0, false, &head}, 0), 0u);
  EXPECT_EQ(entries.place({"stdout", 1, 0, false, &frame}, 1), 1u);
  EXPECT_EQ(entries.place({"stderr", 2, 0, false, &frame}, 2), 2u);
  EXPECT_EQ(entries.place({"stderr", 1, 999'999'999, false, &frame}, 3), 0u);
  EXPECT_EQ(entries.place({"stderr", 1, 2'000'000'000, false, &frame}, 4), 4u);
  const LogFields rest;
  EXPECT_EQ(entries.place({"stderr", 1, 9'000'000'000, true, &rest}, 5), 4u) << "an over-long line";
}

}  // namespace
}  // namespace teller
