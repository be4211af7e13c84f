#include "snapshot/reading.h"

#include <signal.h>

#include <algorithm>
#include <cstring>

namespace teller::snapshot_detail {

namespace {

constexpr double kBusyShare = 0.1;  // of a processor, for threads of libraries

bool is_still(const SeenThread& thread) {
  return thread.behaviour == "stuck" || thread.behaviour == "polling" ||
         thread.behaviour == "spinning" || thread.behaviour == "disk" ||
         thread.behaviour == "stopped";
}

// How much a thread says of its process; the main thread unless it only waits for others.
int weight_of(const SeenThread& thread, const Wait& wait, bool main_thread) {
  const bool program = main_thread || thread.has_python;
  switch (wait.kind) {
    case WaitKind::kCollective:
    case WaitKind::kRendezvous:
    case WaitKind::kKvTransfer:
      return program ? 90 : 40;
    case WaitKind::kGpu:
      return program ? 80 : 30;
    case WaitKind::kThread:
    case WaitKind::kCondition:
      return main_thread ? 50 : program ? 45 : 10;
    case WaitKind::kWork:
      return main_thread ? 50 : 5;
    case WaitKind::kQueue:
      return main_thread ? 60 : 20;
    default:
      return main_thread ? 60 : program ? 55 : 10;
  }
}

// A timed wait on a futex in the middle of the program's code, while another thread has the GIL.
bool waits_for_gil(const SeenProcess& process, const SeenThread& thread, const Wait& wait) {
  if (wait.kind != WaitKind::kCondition || wait.frame >= 0) return false;
  if (thread.syscall != "futex" || thread.for_ever || !thread.has_python) return false;
  return std::any_of(process.threads.begin(), process.threads.end(), [&](const SeenThread& other) {
    return other.tid != thread.tid && other.owns_gil;
  });
}

}  // namespace

ProcessReading read_process(const SeenProcess& process) {
  ProcessReading reading;
  reading.process = &process;
  reading.dead = process.state == 'Z' || process.state == 'X';
  int best = -1;
  for (const SeenThread& thread : process.threads) {
    const bool main_thread = thread.tid == process.pid;
    const bool program = main_thread || thread.has_python;
    Wait wait = wait_of(thread, main_thread);
    if (waits_for_gil(process, thread, wait)) wait.kind = WaitKind::kGil;
    reading.waits.push_back(wait);
    if (thread.behaviour == "running" && (program || thread.cpu_share >= kBusyShare))
      reading.progress = true;
    if (thread.behaviour == "spinning" && wait.kind == WaitKind::kRunning) reading.spinning = true;
    const int weight = weight_of(thread, wait, main_thread);
    if (weight <= best || reading.dead) continue;
    best = weight;
    reading.thread = &thread;
    reading.wait = wait;
  }
  reading.still = reading.thread != nullptr && is_still(*reading.thread);
  return reading;
}

std::vector<ProcessReading> read_processes(const Seen& seen) {
  std::vector<ProcessReading> readings;
  for (const SeenProcess& process : seen.processes) readings.push_back(read_process(process));
  return readings;
}

std::string process_words(const SeenProcess& process) {
  const std::string pid = "pid " + std::to_string(process.pid);
  return process.rank ? "rank " + std::to_string(*process.rank) + " (" + pid + ")" : pid;
}

Evidence evidence_of(const ProcessReading& reading) {
  Evidence evidence;
  evidence.process = reading.process;
  evidence.text = process_words(*reading.process);
  if (reading.dead) {
    const SeenProcess& process = *reading.process;
    evidence.text += " is dead";
    if (process.signal) {
      const char* name = strsignal(*process.signal);
      evidence.text += ", killed by signal " + std::to_string(*process.signal) + " (" +
                       (name == nullptr ? "?" : name) + ")";
    } else if (process.exit_code) {
      evidence.text += ", with exit code " + std::to_string(*process.exit_code);
    }
    return evidence;
  }
  if (reading.thread == nullptr) {
    evidence.text += " could not be looked into";
    return evidence;
  }
  const SeenThread& thread = *reading.thread;
  evidence.thread = &thread;
  evidence.frame = own_frame(thread.stack);
  evidence.text += " " + wait_words(reading.wait);
  if (reading.wait.kind == WaitKind::kRunning && thread.behaviour == "spinning")
    evidence.text += " in one place without end";
  if (evidence.frame >= 0)
    evidence.text += ", at " + frame_words(thread.stack[static_cast<std::size_t>(evidence.frame)]);
  return evidence;
}

std::string fault_of(WaitKind kind) {
  switch (kind) {
    case WaitKind::kGpu:
      return "cuda_kernel";
    case WaitKind::kCollective:
    case WaitKind::kRendezvous:
    case WaitKind::kKvTransfer:
    case WaitKind::kSocket:
      return "communication";
    default:
      return "scheduling";
  }
}

}  // namespace teller::snapshot_detail
