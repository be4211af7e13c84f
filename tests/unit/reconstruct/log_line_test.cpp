#include "reconstruct/log_line.h"

#include <gtest/gtest.h>

namespace teller {
namespace {

struct Case {
  const char* text;
  const char* level;
  std::int64_t pid;
};

const Case kCases[] = {
    {"INFO 02-25 11:11:31 metrics.py:455] Avg prompt throughput: 1.0 tokens/s", "INFO", -1},
    {"(VllmWorkerProcess pid=304) INFO 02-25 11:11:31 worker.py:1] ready", "INFO", 304},
    {"(VllmWorker rank=1 pid=2978) ERROR 03-19 07:27:53 [multiproc_executor.py:375] failed",
     "ERROR", 2978},
    {"(EngineCore_DP0 pid=15638) (Worker_PP3 pid=200085) ERROR 11-03 23:14 [core.py:1] x", "ERROR",
     200085},
    {"(RayWorkerWrapper pid=67451, ip=10.1.0.7) ERROR 06-25 15:28:30 worker_base.py:148] x",
     "ERROR", 67451},
    {"INFO:     10.0.0.1:52348 - \"POST /v1/chat/completions HTTP/1.1\" 200 OK", "INFO", -1},
    {"[2026-07-21 08:04:41 TP0 EP0] Prefill batch, #new-seq: 1, #new-token: 64", "", -1},
    {"[2026-07-21 08:04:41] Scheduler hit an exception: Traceback", "ERROR", -1},
    {"[rank3]:[E410 14:46:34.629385703 ProcessGroupNCCL.cpp:684] [Rank 3] Watchdog", "ERROR", -1},
    {"[E ProcessGroupNCCL.cpp:828] [Rank 2] Watchdog caught collective", "ERROR", -1},
    {"[rank0]:[titan] 2024-03-15 12:39:26,101 - root - INFO - step: 110  loss: 1", "INFO", -1},
    {"E0619 02:47:42.441629  1555 tcp_transport.cpp:136] failed", "ERROR", -1},
    {"host1:123:456 [0] NCCL INFO Channel 00", "INFO", -1},
    {"host1:123:456 [0] transport/net.cc:1302 (recvProxy) NCCL WARN NET/IB : x", "WARNING", -1},
    {"torch.distributed.elastic.multiprocessing.api: [ERROR] failed (exitcode: -6)", "ERROR", -1},
    {"[06/24/2026-15:44:20] [TRT-LLM] [RANK 0] [E] boom", "ERROR", -1},
    {"NVRM: Xid (PCI:0000:61:00): 119, pid=1365232, name=nvidia-smi, Timeout", "ERROR", -1},
    {"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.74 GiB.", "ERROR", -1},
    {"Traceback (most recent call last):", "ERROR", -1},
    {"loss went down to 3", "", -1},
    {"INFORMATION is not a level", "", -1},
    {"", "", -1},
};

TEST(LogLine, FindsLevelAndProcess) {
  for (const Case& c : kCases) {
    const LogLine line = parse_log_line(c.text);
    EXPECT_EQ(line.level, c.level) << c.text;
    EXPECT_EQ(line.pid, c.pid) << c.text;
  }
}

TEST(LogLine, KnowsContinuations) {
  EXPECT_TRUE(continues_message(parse_log_line("  File \"x.py\", line 3, in f")));
  EXPECT_TRUE(continues_message(parse_log_line("RuntimeError: boom")));
  EXPECT_TRUE(continues_message(parse_log_line(
      "(EngineCore_0 pid=7) ERROR 11-03 23:14:01 [core.py:1]   File \"x.py\", line 3")));
  EXPECT_FALSE(continues_message(parse_log_line("Traceback (most recent call last):")));
  EXPECT_FALSE(continues_message(parse_log_line("INFO 02-25 11:11:31 a.py:1] ready")));
}

TEST(LogLine, ReadsStatedRequests) {
  EXPECT_EQ(stated_request("Request cmpl-7f3a aborted."), "cmpl-7f3a");
  EXPECT_EQ(stated_request("Decode transfer failed rid='abc-1' x"), "abc-1");
  EXPECT_EQ(stated_request("request_id=req-1."), "req-1");
  EXPECT_EQ(stated_request("Failing 3 request(s)"), "");
  EXPECT_EQ(stated_request("request failed"), "");
  EXPECT_EQ(stated_request("request 1234 of 2000"), "");
  EXPECT_EQ(stated_request("Received request cmpl-1: prompt: 'hi'"), "cmpl-1");
  EXPECT_EQ(stated_request("Added request cmpl-1-0."), "cmpl-1-0");
  EXPECT_EQ(stated_request("Finished request chatcmpl-9f."), "chatcmpl-9f");
  EXPECT_EQ(stated_request("Abort rids=['a1b2', 'c3d4']"), "a1b2");
  EXPECT_EQ(stated_request("request id: req-7, waits"), "req-7");
  EXPECT_EQ(stated_request(R"({"request_id": "req-8"})"), "req-8");
  EXPECT_EQ(stated_request("request_id=None, req_id=req-9"), "req-9");
}

TEST(LogLine, ProseNamesNoRequest) {
  for (const char* text : {"Request 12.5 ms",
                           "processed request 2024-01-01",
                           "Request http2 frame",
                           "request v1.2",
                           "request cmpl-7f3a waits",
                           "grid=b128x1",
                           "request_id=12",
                           "request_id=12.5",
                           "request_id=v1.2",
                           "request_id=2024-01-01T10:00",
                           "rid=30s",
                           "rid=16GiB",
                           "rid=1e5",
                           "rid=0x7f3a",
                           "Request v2 aborted",
                           "Added request http2 frame",
                           "Added request 2nd.",
                           "Finished request 12ms.",
                           "rid ab-1",
                           "request_id=",
                           "rid"}) {
    EXPECT_EQ(stated_request(text), "") << text;
  }
}

}  // namespace
}  // namespace teller
