#include "snapshot/wait_rules.h"

#include <algorithm>
#include <string>
#include <string_view>

namespace teller::snapshot_detail {

namespace {

// A Python function of a library, and what a thread in it waits for. Modules are ends of paths
// below the standard library ("std/") or site-packages; functions are compared without their class;
// "*" stands for any, "a*" for all that begin so.
struct PythonRule {
  std::string_view module;
  std::string_view functions;  // separated by blanks
  WaitKind kind;
};

constexpr PythonRule kPythonRules[] = {
    {"torch/distributed/distributed_c10d.py",
     "all_reduce all_reduce_coalesced all_gather all_gather_into_tensor all_gather_object "
     "all_gather_coalesced reduce_scatter reduce_scatter_tensor all_to_all all_to_all_single "
     "broadcast "
     "broadcast_object_list reduce gather scatter gather_object scatter_object_list barrier "
     "monitored_barrier send recv send_object_list recv_object_list",
     WaitKind::kCollective},
    {"torch/distributed/_functional_collectives.py", "wait_tensor", WaitKind::kCollective},
    {"torch/distributed/distributed_c10d.py",
     "init_process_group new_group split_group destroy_process_group _store_based_barrier "
     "_new_process_group_helper",
     WaitKind::kRendezvous},
    {"torch/distributed/rendezvous.py", "*", WaitKind::kRendezvous},
    {"torch/distributed/elastic/utils/store.py", "*", WaitKind::kRendezvous},
    {"vllm/distributed/kv_transfer/", "*", WaitKind::kKvTransfer},
    {"sglang/srt/disaggregation/", "*", WaitKind::kKvTransfer},
    {"lmcache/", "*", WaitKind::kKvTransfer},
    {"mooncake/", "*", WaitKind::kKvTransfer},
    {"torch/cuda/__init__.py", "synchronize", WaitKind::kGpu},
    {"torch/cuda/streams.py", "synchronize", WaitKind::kGpu},
    {"torch/accelerator/__init__.py", "synchronize", WaitKind::kGpu},
    {"std/queue.py", "get put join", WaitKind::kQueue},
    {"std/multiprocessing/queues.py", "get put", WaitKind::kQueue},
    {"std/asyncio/base_events.py", "_run_once", WaitKind::kWork},
    {"std/selectors.py", "select", WaitKind::kWork},
    {"std/socketserver.py", "serve_forever", WaitKind::kWork},
    {"std/concurrent/futures/thread.py", "_worker", WaitKind::kQueue},
    {"std/concurrent/futures/_base.py", "result wait exception", WaitKind::kCondition},
    {"std/threading.py", "_wait_for_tstate_lock join", WaitKind::kThread},
    {"std/threading.py", "wait wait_for acquire", WaitKind::kCondition},
    {"std/subprocess.py", "wait _wait communicate _communicate _try_wait", WaitKind::kProcess},
    {"std/multiprocessing/process.py", "join", WaitKind::kProcess},
    {"std/multiprocessing/popen_fork.py", "poll wait", WaitKind::kProcess},
    {"std/multiprocessing/synchronize.py", "wait acquire __enter__", WaitKind::kCondition},
    {"std/multiprocessing/connection.py", "recv recv_bytes poll _poll wait _recv _recv_bytes",
     WaitKind::kPipe},
    {"std/socket.py", "accept", WaitKind::kWork},
    {"std/socket.py", "readinto create_connection", WaitKind::kSocket},
    {"std/ssl.py", "read recv recv_into do_handshake", WaitKind::kSocket},
};

// A native function, and what a thread in it waits for; "*" at the end: all that begin so.
struct NativeRule {
  std::string_view function;
  WaitKind kind;
};

constexpr NativeRule kNativeRules[] = {
    {"c10d::TCPStore::*", WaitKind::kRendezvous},
    {"c10d::PrefixStore::*", WaitKind::kRendezvous},
    {"c10d::Work::wait", WaitKind::kCollective},
    {"c10d::ProcessGroupGloo::AsyncWork::*", WaitKind::kCollective},
    {"c10d::ProcessGroupGloo::SendWork::wait", WaitKind::kCollective},
    {"c10d::ProcessGroupGloo::RecvWork::wait", WaitKind::kCollective},
    {"c10d::ProcessGroupNCCL::WorkNCCL::*", WaitKind::kCollective},
    {"c10d::ProcessGroupNCCL::collective*", WaitKind::kCollective},
    {"c10d::Reducer::*", WaitKind::kCollective},
    {"gloo::all*", WaitKind::kCollective},
    {"gloo::barrier*", WaitKind::kCollective},
    {"gloo::broadcast*", WaitKind::kCollective},
    {"gloo::reduce*", WaitKind::kCollective},
    {"gloo::gather*", WaitKind::kCollective},
    {"gloo::scatter*", WaitKind::kCollective},
    {"gloo::transport::tcp::UnboundBuffer::wait*", WaitKind::kCollective},
    {"ncclAll*", WaitKind::kCollective},
    {"ncclReduce*", WaitKind::kCollective},
    {"ncclBroadcast", WaitKind::kCollective},
    {"ncclSend", WaitKind::kCollective},
    {"ncclRecv", WaitKind::kCollective},
    {"ncclGroupEnd", WaitKind::kCollective},
    {"ncclCommInit*", WaitKind::kRendezvous},
    {"MPI_*", WaitKind::kCollective},
    {"nixl*", WaitKind::kKvTransfer},
    {"mooncake::*", WaitKind::kKvTransfer},
    {"cudaDeviceSynchronize*", WaitKind::kGpu},
    {"cudaStreamSynchronize*", WaitKind::kGpu},
    {"cudaEventSynchronize*", WaitKind::kGpu},
    {"cudaMemcpy*", WaitKind::kGpu},
    {"cuCtxSynchronize*", WaitKind::kGpu},
    {"cuStreamSynchronize*", WaitKind::kGpu},
    {"cuEventSynchronize*", WaitKind::kGpu},
    {"hipDeviceSynchronize*", WaitKind::kGpu},
    {"hipStreamSynchronize*", WaitKind::kGpu},
    {"take_gil", WaitKind::kGil},
    {"zmq_*", WaitKind::kQueue},
    {"__lll_lock_wait*", WaitKind::kLock},
    {"pthread_mutex_lock*", WaitKind::kLock},
    {"___pthread_mutex_lock*", WaitKind::kLock},
    {"__pthread_mutex_lock*", WaitKind::kLock},
    {"lock_PyThread_acquire_lock", WaitKind::kLock},
    {"rlock_acquire", WaitKind::kLock},
    {"_queue_SimpleQueue_get*", WaitKind::kQueue},
    {"semlock_acquire*", WaitKind::kLock},
    {"_multiprocessing_SemLock_acquire*", WaitKind::kLock},
    {"time_sleep", WaitKind::kSleep},
};

// Native functions of threads that wait for work; what stands above them in the stack is no wait of
// the job.
constexpr std::string_view kIdleLoops[] = {
    "c10d::ProcessGroupGloo::runLoop",   "gloo::transport::tcp::Loop::run",
    "c10d::ProcessGroupNCCL::Watchdog*", "c10d::ProcessGroupNCCL::HeartbeatMonitor*",
    "c10d::detail::*Backend*",           "torch::autograd::ReadyQueue::pop",
    "c10::ThreadPool::main_loop"};

bool fits(std::string_view text, std::string_view pattern) {
  const std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) return text == pattern;
  return text.starts_with(pattern.substr(0, star)) &&
         (star + 1 == pattern.size() ||
          text.find(pattern.substr(star + 1, pattern.find('*', star + 1) - star - 1)) !=
              std::string_view::npos);
}

std::string_view after_last(std::string_view text, std::string_view mark) {
  const std::size_t at = text.rfind(mark);
  return at == std::string_view::npos ? text : text.substr(at + mark.size());
}

// "torch/cuda/streams.py", "std/queue.py"; "" for the program's own files.
std::string module_of(std::string_view path) {
  if (path.find("/site-packages/") != std::string_view::npos)
    return std::string(after_last(path, "/site-packages/"));
  if (path.find("/dist-packages/") != std::string_view::npos)
    return std::string(after_last(path, "/dist-packages/"));
  const std::size_t lib = path.find("/lib/python3");
  if (lib == std::string_view::npos) return path.starts_with("<frozen ") ? "std/frozen" : "";
  const std::size_t slash = path.find('/', lib + 5);
  return slash == std::string_view::npos ? "" : "std/" + std::string(path.substr(slash + 1));
}

bool listed(std::string_view functions, std::string_view name) {
  while (!functions.empty()) {
    const std::size_t end = std::min(functions.find(' '), functions.size());
    if (fits(name, functions.substr(0, end))) return true;
    functions.remove_prefix(std::min(end + 1, functions.size()));
  }
  return false;
}

const PythonRule* python_rule_of(const Frame& frame) {
  const std::string module = module_of(frame.file);
  if (module.empty()) return nullptr;
  const std::string_view function = after_last(frame.function, ".");
  for (const PythonRule& rule : kPythonRules) {
    const bool folder = rule.module.ends_with("/");
    if (folder ? module.starts_with(rule.module) : module == rule.module) {
      if (listed(rule.functions, function)) return &rule;
    }
  }
  return nullptr;
}

const NativeRule* native_rule_of(const Frame& frame) {
  for (const NativeRule& rule : kNativeRules) {
    if (fits(frame.function, rule.function)) return &rule;
  }
  return nullptr;
}

}  // namespace

std::optional<WaitKind> wait_in(const Frame& frame) {
  if (frame.python) {
    const PythonRule* rule = python_rule_of(frame);
    return rule == nullptr ? std::nullopt : std::optional(rule->kind);
  }
  const NativeRule* rule = native_rule_of(frame);
  return rule == nullptr ? std::nullopt : std::optional(rule->kind);
}

bool in_library(const Frame& frame) {
  return !module_of(frame.file).empty();
}

bool in_idle_loop(const Stack& stack) {
  return std::any_of(stack.begin(), stack.end(), [](const Frame& frame) {
    return !frame.python &&
           std::any_of(std::begin(kIdleLoops), std::end(kIdleLoops),
                       [&](std::string_view loop) { return fits(frame.function, loop); });
  });
}

}  // namespace teller::snapshot_detail
