#include "snapshot/sample.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "procfs/procfs.h"
#include "snapshot/secrets.h"

namespace teller::snapshot_detail {

namespace {

constexpr std::size_t kMostThreads = 4096;  // of one process
constexpr std::size_t kMostKernelFrames = 32;

struct SyscallName {
  int number;
  const char* name;
};

constexpr SyscallName kSyscalls[] = {
    {SYS_futex, "futex"},
    {SYS_ppoll, "poll"},
    {SYS_pselect6, "select"},
    {SYS_epoll_pwait, "epoll_wait"},
#ifdef SYS_poll
    {SYS_poll, "poll"},
    {SYS_select, "select"},
    {SYS_epoll_wait, "epoll_wait"},
    {SYS_pause, "pause"},
#endif
#ifdef SYS_epoll_pwait2
    {SYS_epoll_pwait2, "epoll_wait"},
#endif
#ifdef SYS_futex_waitv
    {SYS_futex_waitv, "futex"},
#endif
    {SYS_read, "read"},
    {SYS_readv, "read"},
    {SYS_pread64, "read"},
    {SYS_write, "write"},
    {SYS_writev, "write"},
    {SYS_pwrite64, "write"},
    {SYS_recvfrom, "recv"},
    {SYS_recvmsg, "recv"},
    {SYS_sendto, "send"},
    {SYS_sendmsg, "send"},
    {SYS_accept, "accept"},
    {SYS_accept4, "accept"},
    {SYS_connect, "connect"},
    {SYS_nanosleep, "nanosleep"},
    {SYS_clock_nanosleep, "nanosleep"},
    {SYS_wait4, "wait"},
    {SYS_waitid, "wait"},
    {SYS_flock, "flock"},
    {SYS_fcntl, "fcntl"},
    {SYS_fsync, "fsync"},
    {SYS_fdatasync, "fsync"},
    {SYS_ioctl, "ioctl"},
    {SYS_semop, "semop"},
    {SYS_semtimedop, "semop"},
    {SYS_rt_sigtimedwait, "sigwait"},
    {SYS_rt_sigsuspend, "pause"},
    {SYS_restart_syscall, "restart"},
    {SYS_sched_yield, "sched_yield"},
};

// "NUMBER ARG×6 SP PC", "-1 SP PC" outside of a call, or "running".
void read_syscall(const std::string& text, ThreadSample& sample) {
  std::istringstream in(text);
  long number = -1;
  if (!(in >> number)) return;
  const auto next = [&in] {
    std::string word;
    in >> word;
    return std::strtoull(word.c_str(), nullptr, 16);
  };
  sample.syscall = static_cast<int>(number);
  if (number >= 0) {
    for (std::uint64_t& argument : sample.arguments) argument = next();
  }
  sample.stack_pointer = next();
  sample.program_counter = next();
}

std::uint64_t cpu_of(const std::string& folder, const ProcStat& stat) {
  const std::string text = read_proc_file(folder + "schedstat");
  const std::uint64_t exact = std::strtoull(text.c_str(), nullptr, 10);
  if (exact > 0) return exact;
  return stat.cpu_ticks * (1000000000ULL / static_cast<std::uint64_t>(sysconf(_SC_CLK_TCK)));
}

void sample_thread(std::int64_t pid, std::int64_t tid, Process& process) {
  const std::string folder = "/proc/" + std::to_string(pid) + "/task/" + std::to_string(tid) + "/";
  const auto stat = parse_stat(read_proc_file(folder + "stat"));
  if (!stat) return;
  ThreadSample sample;
  sample.at_ns = clock_ns(CLOCK_MONOTONIC);
  sample.state = stat->state;
  sample.cpu_ns = cpu_of(folder, *stat);
  const std::string status = read_proc_file(folder + "status");
  sample.switches =
      std::strtoull(status_field(status, "voluntary_ctxt_switches").c_str(), nullptr, 10);
  sample.wait_channel = read_proc_file(folder + "wchan");
  if (sample.wait_channel == "0") sample.wait_channel.clear();
  if (process.readable) read_syscall(read_proc_file(folder + "syscall"), sample);
  Thread& thread = process.threads[tid];
  thread.tid = tid;
  thread.name = redact(stat->comm);
  thread.samples.push_back(std::move(sample));
}

// pthread_mutex_t begins with the lock word and has the owner's thread id at byte 8. A word of 2
// says that somebody waits; anything else there is no mutex of ours.
std::int64_t mutex_owner(const Process& process, std::uint64_t address) {
  std::uint32_t words[3] = {};
  const iovec local{words, sizeof words};
  const iovec remote{reinterpret_cast<void*>(address), sizeof words};
  if (process_vm_readv(static_cast<pid_t>(process.pid), &local, 1, &remote, 1, 0) !=
      static_cast<ssize_t>(sizeof words)) {
    return 0;
  }
  const auto owner = static_cast<std::int64_t>(words[2]);
  return words[0] == 2 && process.threads.contains(owner) ? owner : 0;
}

}  // namespace

void sample_threads(Process& process) {
  const auto stat = read_stat(process.pid);
  if (!stat) {
    process.state = 'X';  // it has ended since
    return;
  }
  process.state = stat->state;
  if (stat->state == 'Z') return;
  const std::vector<std::int64_t> tasks = list_tasks(process.pid);
  const std::size_t looked_at = std::min(tasks.size(), kMostThreads);
  process.threads_left_out = tasks.size() - looked_at;
  for (std::size_t i = 0; i < looked_at; ++i) sample_thread(process.pid, tasks[i], process);
  // What has ended is neither stuck nor busy.
  process.threads_ended += std::erase_if(process.threads, [&](const auto& item) {
    return !std::binary_search(tasks.begin(), tasks.end(), item.first);
  });
}

void read_kernel_stacks(Process& process) {
  for (auto& [tid, thread] : process.threads) {
    const std::string text = read_proc(process.pid, "task/" + std::to_string(tid) + "/stack");
    std::istringstream lines(text);
    std::string line;
    while (std::getline(lines, line) && thread.kernel_stack.size() < kMostKernelFrames) {
      const std::size_t name = line.find("] ");
      const std::size_t plus = line.find('+');
      if (name == std::string::npos || plus == std::string::npos || plus < name) continue;
      thread.kernel_stack.push_back(line.substr(name + 2, plus - name - 2));
    }
  }
}

void find_lock_owners(Process& process) {
  for (auto& [tid, thread] : process.threads) {
    if (thread.samples.empty() || !waits_for_ever(thread.samples.back())) continue;
    const std::int64_t owner = mutex_owner(process, thread.samples.back().arguments[0]);
    if (owner != tid) thread.lock_owner = owner;
  }
}

std::string syscall_name(int number) {
  for (const SyscallName& one : kSyscalls) {
    if (one.number == number) return one.name;
  }
  return number < 0 ? "" : "syscall " + std::to_string(number);
}

bool waits_for_ever(const ThreadSample& sample) {
  if (sample.syscall != SYS_futex || sample.state == 'R') return false;
  const auto operation = static_cast<int>(sample.arguments[1]) & FUTEX_CMD_MASK;
  const bool waits =
      operation == FUTEX_WAIT || operation == FUTEX_WAIT_BITSET || operation == FUTEX_LOCK_PI;
  return waits && sample.arguments[3] == 0;
}

}  // namespace teller::snapshot_detail
