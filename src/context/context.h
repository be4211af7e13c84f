// What happens around a traced program, sampled each second from outside of it: its processes, its
// host, its control groups, the GPUs, and what its engine says of itself. Records: docs/context.md.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "teller/result.h"

namespace teller {

struct ContextOptions {
  bool find_engines = true;       // scrape engines among the processes
  bool all_series = false;        // keep every series that they show
  std::vector<std::string> urls;  // further endpoints: http://HOST:PORT/PATH
  std::string root;               // before /proc and /sys; for tests
};

struct ContextProcess {
  std::int64_t pid = 0;
  std::vector<std::string> argv;
};

struct ContextCounts {
  std::uint64_t records = 0;
  std::uint64_t records_lost = 0;  // nobody took them
  std::uint64_t scrapes = 0;
  std::uint64_t scrapes_failed = 0;
  std::uint64_t threads_failed = 0;  // could not start, or ran out of memory
};

// Checks the URLs: kUsage if one is not "http://HOST[:PORT][/PATH]".
Status check_context(const ContextOptions& options);

// Three threads, so that a driver or a server that does not answer delays nothing but itself. Not
// thread-safe itself: one thread uses it.
class Context {
 public:
  // Starts sampling.
  explicit Context(ContextOptions options);
  // Waits two seconds at most for samples that are being taken.
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  // The processes to look at from now on.
  void set_processes(std::vector<ContextProcess> processes);
  // Records made since the last call, as JSON lines.
  std::string take_lines();
  ContextCounts counts() const;
  // Samples nothing more; does not wait.
  void stop();
  // The same, after a last sample of processes, host and control groups; without it if one still
  // runs after two seconds.
  void finish();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace teller
