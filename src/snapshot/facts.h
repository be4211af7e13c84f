// What a snapshot knows of the processes of a job, before it is written.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace teller::snapshot_detail {

// One function of a stack.
struct Frame {
  bool python = false;
  std::string function;  // demangled; Python: as the code object names it
  std::string file;      // Python: path of the source; native: name of the library
  int line = 0;          // Python only; 0 = unknown
  bool operator==(const Frame&) const = default;
};
using Stack = std::vector<Frame>;  // innermost first

// A thread at one moment.
struct ThreadSample {
  std::int64_t at_ns = 0;  // CLOCK_MONOTONIC
  char state = '?';
  std::uint64_t cpu_ns = 0;    // used since its start
  std::uint64_t switches = 0;  // times that it gave up the processor by itself
  std::string wait_channel;    // kernel function in which it waits; "" where unknown
  int syscall = -1;            // number; -1 = runs, or unknown
  std::array<std::uint64_t, 6> arguments{};
  std::uint64_t stack_pointer = 0;  // both 0 where unknown
  std::uint64_t program_counter = 0;
  Stack native;  // by libdw or gdb
  Stack stack;   // native and Python frames
  bool has_python = false;
  bool owns_gil = false;
};

struct Thread {
  std::int64_t tid = 0;
  std::string name;
  std::string python_name;
  std::vector<ThreadSample> samples;  // of the moments at which it was there
  std::vector<std::string> kernel_stack;
  std::int64_t lock_owner = 0;  // thread that holds the mutex it waits for; 0 = unknown
};

struct Process {
  std::int64_t pid = 0;
  std::int64_t ppid = 0;
  std::int64_t start_ns = 0;
  std::string role;  // "asked", "descendant", "job", "sibling" (dead child of the job's parent)
  bool readable = false;  // whether we may look into it as a debugger
  bool python = false;
  char state = '?';
  int exit_code = 0;  // of a zombie, as waitpid() gives it
  std::string comm;
  std::vector<std::string> argv;  // redacted
  std::string environment;        // text of environ: never written
  std::map<std::int64_t, Thread> threads;
  std::size_t threads_ended = 0;     // between the samples: they are not among `threads`
  std::size_t threads_left_out = 0;  // more than were looked at
};

// A part that could not be had.
struct Gap {
  std::string part;
  std::int64_t pid = 0;  // 0 = concerns all
  std::string reason;
  std::string hint;  // what to do; "" = nothing
};

// Moment after which nothing new is begun; or sooner, when the user wants to stop.
struct Deadline {
  std::chrono::steady_clock::time_point end;
  const std::atomic<bool>* stop = nullptr;
  bool stopped() const { return stop != nullptr && stop->load(); }
  bool over() const { return stopped() || std::chrono::steady_clock::now() >= end; }
  // Sleeps until then, or until it is over.
  void sleep_until(std::chrono::steady_clock::time_point moment) const;
  // Milliseconds left, at most `most`, at least 1.
  int left_ms(int most) const;
};

struct Job {
  std::vector<Process> processes;
  std::vector<Gap> gaps;
  Deadline deadline;

  Process* find(std::int64_t pid);
  // Adds a gap; the same part and reason of further processes is kept once for each.
  void add_gap(std::string part, std::int64_t pid, std::string reason, std::string hint = "");
};

// What lets us look into a process that may not be looked into now.
std::string permission_hint(std::int64_t pid);

}  // namespace teller::snapshot_detail
