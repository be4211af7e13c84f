// One line of each format, and what is read of it.
#include "logs/line.h"

#include <gtest/gtest.h>

#include <string>

namespace teller {
namespace {

struct Case {
  const char* text;
  const char* format;
  const char* level;
  const char* process;
  std::int64_t pid;
  const char* source;
  const char* message;
};

const Case kCases[] = {
    // vLLM, from V0 to 0.32.
    {"INFO 02-25 11:11:31 metrics.py:455] Avg prompt throughput: 1.0 tokens/s", "vllm", "INFO", "",
     -1, "metrics.py:455", "Avg prompt throughput: 1.0 tokens/s"},
    {"(VllmWorkerProcess pid=304) INFO 02-25 11:11:31 worker.py:1] ready", "vllm", "INFO",
     "VllmWorkerProcess", 304, "worker.py:1", "ready"},
    {"(RayWorkerWrapper pid=67451, ip=10.1.0.7) ERROR 06-25 15:28:30 worker_base.py:148] x "
     "[repeated 6x across cluster]",
     "vllm", "ERROR", "RayWorkerWrapper", 67451, "worker_base.py:148",
     "x [repeated 6x across cluster]"},
    {"ERROR 02-04 23:21:45 core.py:210] EngineCore hit an exception: Traceback", "vllm", "ERROR",
     "", -1, "core.py:210", "EngineCore hit an exception: Traceback"},
    {"(VllmWorker rank=1 pid=2978) ERROR 03-19 07:27:53 [multiproc_executor.py:375] failed", "vllm",
     "ERROR", "VllmWorker", 2978, "multiproc_executor.py:375", "failed"},
    {"(VllmWorker TP6 pid=1224446) INFO 03-19 07:27:53 [a.py:1] x", "vllm", "INFO", "VllmWorker",
     1224446, "a.py:1", "x"},
    {"(EngineCore_DP0 pid=15638) (Worker_PP3 pid=200085) ERROR 11-03 23:14 [core.py:1] x", "vllm",
     "ERROR", "Worker_PP3", 200085, "core.py:1", "x"},
    {"(EngineCore_DP0 pid=2010410) INFO 12-22 21:44:40 [core.py:349] Iteration(515): 0 context",
     "vllm", "INFO", "EngineCore_DP0", 2010410, "core.py:349", "Iteration(515): 0 context"},
    {"DEBUG 12-22 21:44:40 [v1/core/.../sched.py:9] x", "vllm", "DEBUG", "", -1,
     "v1/core/.../sched.py:9", "x"},
    {"vllm-1  | (Worker_TP1_EP1 pid=77) WARNING 12-22 21:44:40 [x.py:2] late", "vllm", "WARNING",
     "Worker_TP1_EP1", 77, "x.py:2", "late"},
    {"(EngineCore_0 pid=7) ERROR 11-03 23:14:01 [core.py:1]   File \"x.py\", line 3", "vllm",
     "ERROR", "EngineCore_0", 7, "core.py:1", "  File \"x.py\", line 3"},
    // uvicorn and Python's own format.
    {"INFO:     10.0.0.1:52348 - \"POST /v1/chat/completions HTTP/1.1\" 200 OK", "uvicorn", "INFO",
     "", -1, "", "10.0.0.1:52348 - \"POST /v1/chat/completions HTTP/1.1\" 200 OK"},
    {"(APIServer pid=1) INFO:     10.0.0.1:5 - \"GET / HTTP/1.1\" 404", "uvicorn", "INFO",
     "APIServer", 1, "", "10.0.0.1:5 - \"GET / HTTP/1.1\" 404"},
    // SGLang.
    {"[2026-07-21 08:04:41 TP0 EP0] Prefill batch, #new-seq: 1, #new-token: 64, ", "sglang", "", "",
     -1, "", "Prefill batch, #new-seq: 1, #new-token: 64, "},
    {"[08:04:41 DP0 TP3] Decode batch. #running-req: 36", "sglang", "", "", -1, "",
     "Decode batch. #running-req: 36"},
    {"[07-21 08:04:41] Scheduler hit an exception: Traceback", "sglang", "ERROR", "", -1, "",
     "Scheduler hit an exception: Traceback"},
    // c10d and glog.
    {"[rank3]:[E410 14:46:34.629385703 ProcessGroupNCCL.cpp:684] [Rank 3] Watchdog", "glog",
     "ERROR", "", -1, "ProcessGroupNCCL.cpp:684", "[Rank 3] Watchdog"},
    {"[E ProcessGroupNCCL.cpp:828] [Rank 2] Watchdog caught collective", "glog", "ERROR", "", -1,
     "ProcessGroupNCCL.cpp:828", "[Rank 2] Watchdog caught collective"},
    {"E0619 02:47:42.441629  1555 tcp_transport.cpp:136] failed", "glog", "ERROR", "", -1,
     "tcp_transport.cpp:136", "failed"},
    {"E0410 14:46:34.123000 140 torch/distributed/elastic/multiprocessing/api.py:826] failed "
     "(exitcode: 1) local_rank: 0 (pid: 9) of binary: x",
     "glog", "ERROR", "", -1, "torch/distributed/elastic/multiprocessing/api.py:826",
     "failed (exitcode: 1) local_rank: 0 (pid: 9) of binary: x"},
    // NCCL.
    {"host1:123:456 [0] NCCL INFO Channel 00", "nccl", "INFO", "", 123, "", "Channel 00"},
    {"host1:123:456 [0] transport/net.cc:1302 (recvProxy) NCCL WARN NET/IB : x", "nccl", "WARNING",
     "", 123, "transport/net.cc:1302", "NET/IB : x"},
    {"[2026-05-05 06:16:47] node-01:189884:189884 [3] plugin/net.cc:9 NCCL WARN Plugin", "nccl",
     "WARNING", "", 189884, "plugin/net.cc:9", "Plugin"},
    // torchelastic, torchtitan, Python's logging.
    {"torch.distributed.elastic.multiprocessing.api: [ERROR] failed (exitcode: -6)", "python",
     "ERROR", "", -1, "", "failed (exitcode: -6)"},
    {"[rank0]:[titan] 2024-03-15 12:39:26,101 - root - INFO - step: 110  loss: 1", "python", "INFO",
     "", -1, "", "step: 110  loss: 1"},
    {"2024-03-15 12:39:26,101 WARNING late", "python", "WARNING", "", -1, "", "late"},
    // Kernel.
    {"[Fri Mar  3 04:44:24 2023] NVRM: Xid (PCI:0000:61:00): 119, pid=1365232, name=x, Timeout",
     "kernel", "ERROR", "kernel", -1, "",
     "NVRM: Xid (PCI:0000:61:00): 119, pid=1365232, name=x, Timeout"},
    {"[ 1843.308145] NVRM: loading", "kernel", "", "kernel", -1, "", "NVRM: loading"},
    {"Feb 14 05:03:41 host kernel: Out of memory: Killed process 7 (python3)", "kernel", "ERROR",
     "kernel", -1, "", "Out of memory: Killed process 7 (python3)"},
    {"kern: warning: [2026-04-22T21:27:51.29Z]: NVRM: Xid (PCI:0): 79, GPU", "kernel", "WARNING",
     "kernel", -1, "", "NVRM: Xid (PCI:0): 79, GPU"},
    // Ray, TensorRT-LLM, UCX, DLRover, JSON.
    {"(raylet) [2025-04-02 15:02:00,117 E 135782 135783] (raylet) node_manager.cc:3069: 1 Workers",
     "ray", "ERROR", "raylet", 135782, "node_manager.cc:3069", "1 Workers"},
    {"[06/24/2026-15:44:20] [TRT-LLM] [RANK 0] [E] boom", "tensorrt-llm", "ERROR", "", -1, "",
     "boom"},
    {"[TensorRT-LLM][INFO] Engine version 1", "tensorrt-llm", "INFO", "", -1, "",
     "Engine version 1"},
    {"[1784621081.896649] [host:537  :1]  srd_iface.c:221  UCX  ERROR no route", "ucx", "ERROR", "",
     537, "srd_iface.c:221", "no route"},
    {"[2025-04-21T23:31:09.074419] [426] [7f] [AtorchTrainerV2] [#step] [BEGIN] {}", "bracketed",
     "", "", 426, "", "[7f] [AtorchTrainerV2] [#step] [BEGIN] {}"},
    {"[2025-04-21 23:31:09 +0000] [12] [INFO] Booting worker", "bracketed", "INFO", "", 12, "",
     "Booting worker"},
    {" [2024-09-05 10:01:11] iteration      120/  500000 | loss", "sglang", "", "", -1, "",
     "iteration      120/  500000 | loss"},
    {R"({"asctime": "2026-01-02 03:04:05", "levelname": "ERROR", "process": 44, "processName": "EngineCore", "message": "it \"broke\""})",
     "json", "ERROR", "EngineCore", 44, "", R"(it \"broke\")"},
    // No format: the line is its message.
    {"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.74 GiB.", "", "ERROR", "", -1,
     "", "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.74 GiB."},
    {"Traceback (most recent call last):", "", "ERROR", "", -1, "",
     "Traceback (most recent call last):"},
    {"loss went down to 3", "", "", "", -1, "", "loss went down to 3"},
    {"INFORMATION is not a level", "", "", "", -1, "", "INFORMATION is not a level"},
    {"[1/20] Building [INFO in a name", "", "", "", -1, "", "[1/20] Building [INFO in a name"},
    {"(not pid=x) text", "", "", "", -1, "", "(not pid=x) text"},
    {"", "", "", "", -1, "", ""},
};

TEST(LogLine, EveryFormatIsRead) {
  for (const Case& c : kCases) {
    const LogFields line = parse_line(c.text);
    EXPECT_EQ(log_format_name(line.format), c.format) << c.text;
    EXPECT_EQ(line.level, c.level) << c.text;
    EXPECT_EQ(line.process, c.process) << c.text;
    EXPECT_EQ(line.pid, c.pid) << c.text;
    EXPECT_EQ(line.source, c.source) << c.text;
    EXPECT_EQ(line.message, c.message) << c.text;
  }
}

TEST(LogLine, RanksAreRead) {
  EXPECT_EQ(parse_line("(VllmWorker rank=1 pid=2) INFO 01-01 00:00:00 [a.py:1] x").ranks.global, 1);
  EXPECT_EQ(parse_line("(VllmWorker TP6 pid=2) INFO 01-01 00:00:00 [a.py:1] x").ranks.tp, 6);
  const LogRanks nested =
      parse_line("(EngineCore_DP1 pid=1) (Worker_PP3_TP2_EP5 pid=2) INFO 01-01 00:00 [a.py:1] x")
          .ranks;
  EXPECT_EQ(nested.dp, 1);
  EXPECT_EQ(nested.pp, 3);
  EXPECT_EQ(nested.tp, 2);
  EXPECT_EQ(nested.ep, 5);
  EXPECT_EQ(parse_line("[2026-07-21 08:04:41 DP2 TP0] x").ranks.dp, 2);
  EXPECT_EQ(parse_line("[rank3]: Traceback").ranks.global, 3);
  EXPECT_EQ(parse_line("[default2]:[W socket.cpp:663] x").ranks.local, 2);
  EXPECT_EQ(parse_line("[06/24/2026-15:44:20] [TRT-LLM] [RANK 4] [E] x").ranks.global, 4);
  EXPECT_EQ(parse_line("[E ProcessGroupNCCL.cpp:828] [Rank 2] x").ranks.global, 2);
  // The rank in a group is that of the job only for the group of all.
  EXPECT_EQ(parse_line("[E ProcessGroupNCCL.cpp:828] [PG ID 0 PG GUID 0 Rank 1] x").ranks.global,
            1);
  EXPECT_EQ(parse_line("[E ProcessGroupNCCL.cpp:828] [PG ID 2 PG GUID 3 Rank 1] x").ranks.global,
            -1);
}

// Twice the length may not take much more than twice the work; here: it ends at all.
TEST(LogLine, LongLinesAreReadOnceOver) {
  for (const char* unit :
       {"[", "(a pid=1) ", " - ", "request_id=", "{\"a\": ", "INFO ", "::", "\""}) {
    std::string text;
    while (text.size() < (4u << 20)) text += unit;
    const LogFields line = parse_line(text);
    EXPECT_LE(line.message.size(), text.size());
    EXPECT_LE(stated_requests(line.message).size(), 64u);
  }
}

}  // namespace
}  // namespace teller
