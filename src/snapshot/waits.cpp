#include "snapshot/waits.h"

#include <algorithm>

#include "snapshot/wait_rules.h"

namespace teller::snapshot_detail {

namespace {

bool is_job_wait(WaitKind kind) {
  return kind == WaitKind::kCollective || kind == WaitKind::kRendezvous ||
         kind == WaitKind::kKvTransfer || kind == WaitKind::kGpu || kind == WaitKind::kQueue;
}

// What the stack says: a wait of the job anywhere in it, else the innermost wait there is. Python
// frames count only above the program's own code: what the program calls from inside a library (a
// data loader in a collective's call-back) is no wait of that library.
Wait from_stack(const Stack& stack) {
  Wait inner;
  bool above_own_code = true;
  for (std::size_t i = 0; i < stack.size(); ++i) {
    const Frame& frame = stack[i];
    Wait wait;
    wait.frame = static_cast<int>(i);
    if (frame.python) {
      if (!in_library(frame)) above_own_code = false;
      wait.detail = frame.function.substr(frame.function.rfind('.') + 1);
    } else {
      wait.detail = frame.function;
    }
    const auto kind = above_own_code ? wait_in(frame) : std::nullopt;
    if (!kind) continue;
    wait.kind = *kind;
    if (is_job_wait(wait.kind)) {
      // The Python function names a collective better than what it calls.
      const bool named = inner.frame >= 0 && inner.kind == wait.kind && !frame.python;
      if (!named) inner = wait;
      if (frame.python) return inner;
    } else if (inner.frame < 0) {
      inner = wait;
    } else if (wait.kind != WaitKind::kLock && inner.kind == WaitKind::kLock) {
      inner = wait;  // conditions, queues and joins are made of locks
    }
  }
  return inner;
}

Wait from_syscall(const SeenThread& thread) {
  constexpr std::pair<std::string_view, WaitKind> kTable[] = {
      {"nanosleep", WaitKind::kSleep}, {"wait", WaitKind::kProcess},
      {"accept", WaitKind::kWork},     {"flock", WaitKind::kLock},
      {"fsync", WaitKind::kDisk},      {"semop", WaitKind::kLock},
      {"connect", WaitKind::kSocket},  {"recv", WaitKind::kSocket},
      {"send", WaitKind::kSocket},     {"poll", WaitKind::kSocket},
      {"select", WaitKind::kSocket},   {"epoll_wait", WaitKind::kWork},
      {"sigwait", WaitKind::kWork},    {"pause", WaitKind::kWork}};
  Wait wait;
  for (const auto& [name, kind] : kTable) {
    if (thread.syscall == name) wait.kind = kind;
  }
  if (thread.syscall == "read" || thread.syscall == "write") {
    wait.kind = thread.on_socket ? WaitKind::kSocket : WaitKind::kPipe;
    if (thread.target.starts_with("/dev/")) wait.kind = WaitKind::kWork;  // a terminal
  }
  if (thread.syscall == "ioctl" && thread.target.starts_with("/dev/nvidia"))
    wait.kind = WaitKind::kGpu;
  if (thread.syscall == "futex")
    wait.kind = thread.for_ever && thread.has_python ? WaitKind::kLock : WaitKind::kCondition;
  wait.detail = thread.target;
  return wait;
}

// Threads that only libraries know wait for work, unless they carry out an operation of the job.
Wait of_background(const SeenThread& thread) {
  const Wait wait = from_stack(thread.stack);
  const bool busy = wait.kind == WaitKind::kCollective && wait.detail.starts_with("gloo::");
  if (busy ||
      (is_job_wait(wait.kind) && wait.kind != WaitKind::kCollective && !in_idle_loop(thread.stack)))
    return wait;
  if (thread.lock_owner != 0) return {WaitKind::kLock, "", -1};
  return {WaitKind::kWork, "", -1};
}

// Functions of the C and C++ libraries, by library, or by name where gdb gives source files.
bool of_system(const Frame& frame) {
  constexpr std::string_view kLibraries[] = {"libc.so", "libc-2", "libpthread", "libstdc++"};
  constexpr std::string_view kNames[] = {"__", "futex_", "lll_", "pthread_", "syscall"};
  const auto begins = [](std::string_view text, const auto& words) {
    return std::any_of(std::begin(words), std::end(words),
                       [&](std::string_view word) { return text.starts_with(word); });
  };
  return begins(frame.file, kLibraries) || begins(frame.function, kNames);
}

}  // namespace

std::string_view wait_name(WaitKind kind) {
  constexpr std::string_view kNames[] = {
      "running", "collective", "rendezvous", "kv_transfer", "gpu_sync", "lock",
      "gil",     "queue",      "condition",  "thread",      "process",  "pipe",
      "socket",  "disk",       "sleep",      "work",        "stopped",  "other"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string wait_words(const Wait& wait) {
  constexpr std::string_view kWords[] = {"runs",
                                         "waits for other ranks in",
                                         "waits for other ranks to form a group in",
                                         "waits for a KV transfer in",
                                         "waits for the GPU in",
                                         "waits for a lock",
                                         "waits for the GIL",
                                         "waits for a queue in",
                                         "waits for a condition",
                                         "waits for a thread to end",
                                         "waits for a process to end",
                                         "waits for data of a pipe",
                                         "waits for a socket",
                                         "waits for a disk or device (uninterruptible)",
                                         "sleeps",
                                         "waits for work",
                                         "is stopped",
                                         "waits"};
  std::string words(kWords[static_cast<std::size_t>(wait.kind)]);
  const bool names = is_job_wait(wait.kind);
  if (names && wait.detail.empty()) words = words.substr(0, words.rfind(' '));
  if (names && !wait.detail.empty()) words += " " + wait.detail;
  if (wait.kind == WaitKind::kSocket && !wait.detail.empty()) words += " of " + wait.detail;
  return words;
}

Wait wait_of(const SeenThread& thread, bool main_thread) {
  if (thread.behaviour == "stopped") return {WaitKind::kStopped, "", -1};
  if (thread.behaviour == "disk") return {WaitKind::kDisk, thread.target, -1};
  Wait wait = from_stack(thread.stack);
  const bool spins = thread.behaviour == "spinning" || thread.behaviour == "running";
  // A collective or a synchronisation may poll: it is a wait all the same.
  if (spins && (!is_job_wait(wait.kind) || wait.kind == WaitKind::kQueue))
    return {WaitKind::kRunning, "", -1};
  if (!main_thread && !thread.has_python) return of_background(thread);
  const Wait call = from_syscall(thread);
  if (call.kind == WaitKind::kSleep && !is_job_wait(wait.kind)) return call;
  if (wait.frame >= 0) return wait;
  return call;
}

int own_frame(const Stack& stack) {
  int python = -1, native = -1;
  for (std::size_t i = 0; i < stack.size(); ++i) {
    if (!stack[i].python) {
      if (native < 0 && stack[i].function != "?" && !of_system(stack[i]))
        native = static_cast<int>(i);
      continue;
    }
    if (!in_library(stack[i])) return static_cast<int>(i);
    if (python < 0) python = static_cast<int>(i);
  }
  if (python >= 0) return python;
  return native >= 0 || stack.empty() ? native : 0;
}

std::string frame_words(const Frame& frame) {
  const std::string file = frame.file.substr(frame.file.rfind('/') + 1);
  std::string words = frame.function;
  if (!file.empty()) {
    words += " (" + file;
    if (frame.line > 0) words += ":" + std::to_string(frame.line);
    words += ")";
  }
  return words;
}

}  // namespace teller::snapshot_detail
