#include "snapshot/collect.h"

#include <signal.h>

#include <algorithm>
#include <thread>

#include "base/command.h"
#include "procfs/procfs.h"
#include "snapshot/native_stack.h"
#include "snapshot/sample.h"
#include "snapshot/stacks.h"

namespace teller::snapshot_detail {

namespace {

constexpr int kToolTimeoutMs = 10000;
constexpr const char* kNoPySpy = "py-spy is not on PATH";

bool is_python(const Process& process) {
  const std::string maps = read_proc(process.pid, "maps");
  if (maps.find("/libpython") != std::string::npos) return true;
  const std::size_t first = maps.find('/');
  const std::string exe = first == std::string::npos
                              ? (process.argv.empty() ? "" : process.argv.front())
                              : maps.substr(first, maps.find('\n', first) - first);
  return exe.substr(exe.rfind('/') + 1).starts_with("python");
}

class Collector {
 public:
  Collector(const SnapshotOptions& options, Job& job)
      : options_(options), job_(job), pyspy_(find_program("py-spy")) {
    if (options.pause) gdb_ = find_program("gdb");
  }

  void run() {
    prepare();
    for (int i = 0; i < options_.samples; ++i) {
      if (i > 0) pause_between(i);
      if (job_.deadline.over() && i > 0) {
        const bool stopped = job_.deadline.stopped();
        job_.add_gap("samples", 0,
                     "only " + std::to_string(i) + " were taken " +
                         (stopped ? "before it was stopped" : "in the time given"),
                     stopped ? "let it go on to its end" : "give more --duration");
        break;
      }
      for (Process& process : job_.processes) sample(process);
    }
    finish();
  }

 private:
  void prepare() {
    for (Process& process : job_.processes) {
      if (process.state == 'Z') continue;
      process.python = is_python(process);
      if (process.python && pyspy_.empty())
        job_.add_gap("Python stacks", process.pid, kNoPySpy, "pip install py-spy");
      if (process.readable && !has_native_stacks())
        job_.add_gap("native stacks", process.pid, "teller was built without libdw",
                     "install libdw-dev and build teller again");
    }
    if (options_.pause && gdb_.empty())
      job_.add_gap("stacks by gdb", 0, "gdb is not on PATH", "apt-get install gdb");
    start_ = std::chrono::steady_clock::now();
  }

  // Moments are a grid, so that slow tools do not stretch the window more than they must.
  void pause_between(int sample) {
    const auto due = start_ + std::chrono::milliseconds(options_.interval_ms) * sample;
    const auto soonest =
        std::chrono::steady_clock::now() + std::chrono::milliseconds(options_.interval_ms) / 2;
    job_.deadline.sleep_until(std::max(due, soonest));
  }

  void sample(Process& process) {
    if (process.state == 'Z' || process.state == 'X') return;
    const char before = process.state;
    sample_threads(process);
    if (process.state == 'Z' || process.state == 'X') return;
    std::map<std::int64_t, Stack> native = native_of(process);
    std::map<std::int64_t, PythonThread> python = python_of(process);
    for (auto& [tid, thread] : process.threads) {
      ThreadSample& sample = thread.samples.back();
      PythonThread& own = python[tid];
      // Tools that stop a thread wake it as well: what it did by itself is not known then.
      if (options_.pause) sample.switches = 0;
      sample.native = native[tid];
      sample.stack = merge_stacks(sample.native, own.stack);
      sample.has_python = !own.stack.empty();
      sample.owns_gil = own.owns_gil;
      if (!own.name.empty()) thread.python_name = own.name;
    }
    if (options_.pause) let_go(process, before);
  }

  std::map<std::int64_t, Stack> native_of(const Process& process) {
    if (!process.readable || job_.deadline.over()) return {};
    const int left = job_.deadline.left_ms(kToolTimeoutMs);
    if (options_.pause && !gdb_.empty() && !(process.python && !pyspy_.empty())) {
      return take(gdb_stacks(gdb_, process, left), "native stacks", process);
    }
    if (!has_native_stacks()) return {};
    return take(native_stacks(process, left), "native stacks", process);
  }

  std::map<std::int64_t, PythonThread> python_of(const Process& process) {
    if (!process.python || pyspy_.empty() || job_.deadline.over()) return {};
    const int left = job_.deadline.left_ms(kToolTimeoutMs);
    return take(pyspy_stacks(pyspy_, process, options_.pause, left), "Python stacks", process);
  }

  template <typename T>
  T take(Result<T> result, const char* part, const Process& process) {
    if (result) return std::move(*result);
    // A process that ends while it is looked at is no gap.
    const auto stat = read_stat(process.pid);
    if (stat && stat->state != 'Z')
      job_.add_gap(part, process.pid, result.error().message, result.error().hint);
    return {};
  }

  // A tool that was ended in mid-work may leave its target stopped.
  void let_go(Process& process, char before) {
    const auto stat = read_stat(process.pid);
    if (!stat || (stat->state != 'T' && stat->state != 't') || before == 'T') return;
    kill(static_cast<pid_t>(process.pid), SIGCONT);
    job_.add_gap("undisturbed running", process.pid,
                 "a tool left the process stopped; teller let it go on");
  }

  void finish() {
    for (Process& process : job_.processes) {
      if (process.state == 'X' || process.state == 'Z') continue;
      if (process.threads_left_out > 0)
        job_.add_gap("threads", process.pid,
                     std::to_string(process.threads_left_out) + " more than are looked at");
      find_lock_owners(process);
      read_kernel_stacks(process);
    }
  }

  const SnapshotOptions& options_;
  Job& job_;
  std::string pyspy_;
  std::string gdb_;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace

void collect_samples(const SnapshotOptions& options, Job& job) {
  Collector(options, job).run();
}

}  // namespace teller::snapshot_detail
