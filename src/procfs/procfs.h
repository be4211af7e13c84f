// What /proc says of processes and threads. All of it may vanish or change while it is read, and
// may be forbidden: then the answer is empty, never an error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace teller {

// More is never read of one file of /proc.
inline constexpr std::size_t kMostProcBytes = 4u << 20;

// /proc/<pid>/stat, or that of a thread.
struct ProcStat {
  std::int64_t ppid = 0;
  char state = '?';               // R S D T t Z X I, as in proc(5)
  std::uint64_t cpu_ticks = 0;    // user and system time
  std::uint64_t start_ticks = 0;  // since boot
  std::uint64_t rss_pages = 0;
  int exit_code = 0;  // as waitpid() gives it; of a zombie, and only where it may be seen
  std::string comm;
};

// At most kMostProcBytes of a file; "" if it cannot be read. `error` is set to errno, or 0.
std::string read_proc_file(const std::string& path, int* error = nullptr);
// The same of /proc/<pid>/<name>.
std::string read_proc(std::int64_t pid, std::string_view name, int* error = nullptr);

// Of the text of a stat file: "pid (comm) state ppid …"; comm may hold blanks and parentheses.
std::optional<ProcStat> parse_stat(std::string_view text);
std::optional<ProcStat> read_stat(std::int64_t pid);
std::optional<ProcStat> read_task_stat(std::int64_t pid, std::int64_t tid);

// A field of a status file ("voluntary_ctxt_switches"), blanks trimmed; "" if it has none.
std::string status_field(std::string_view status, std::string_view name);

// Ids of all processes that can be seen, or of the threads of one; ascending.
std::vector<std::int64_t> list_pids();
std::vector<std::int64_t> list_tasks(std::int64_t pid);

// Items that end with a zero byte: cmdline, environ.
std::vector<std::string> split_at_nul(std::string_view text);
// A variable of the environment that process `pid` was started with; "" where it has none, or where
// the environment cannot be read. What the process sets later is not seen.
std::string start_variable(std::int64_t pid, const std::string& name);
// The same in the text of an environ file.
std::string variable_in(std::string_view environ_text, const std::string& name);

// Start of a process on CLOCK_MONOTONIC in ns; the kernel tells it to 10 ms.
std::int64_t start_of(std::uint64_t start_ticks);
// Now, on the given clock (CLOCK_MONOTONIC, …) in ns.
std::int64_t clock_ns(int clock);

}  // namespace teller
