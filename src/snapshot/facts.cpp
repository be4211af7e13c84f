#include "snapshot/facts.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "procfs/procfs.h"

namespace teller::snapshot_detail {

int Deadline::left_ms(int most) const {
  const auto left =
      std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
  return static_cast<int>(std::clamp<std::int64_t>(left.count(), 1, most));
}

void Deadline::sleep_until(std::chrono::steady_clock::time_point moment) const {
  constexpr std::chrono::milliseconds kLook{20};
  while (!over() && std::chrono::steady_clock::now() < moment) {
    std::this_thread::sleep_until(std::min(moment, std::chrono::steady_clock::now() + kLook));
  }
}

Process* Job::find(std::int64_t pid) {
  for (Process& process : processes) {
    if (process.pid == pid) return &process;
  }
  return nullptr;
}

void Job::add_gap(std::string part, std::int64_t pid, std::string reason, std::string hint) {
  for (const Gap& gap : gaps) {
    if (gap.part == part && gap.pid == pid && gap.reason == reason) return;
  }
  gaps.push_back({std::move(part), pid, std::move(reason), std::move(hint)});
}

std::string permission_hint(std::int64_t pid) {
  struct stat info {};
  const std::string folder = "/proc/" + std::to_string(pid);
  if (stat(folder.c_str(), &info) == 0 && info.st_uid != geteuid() && geteuid() != 0) {
    return "it belongs to another user (" + std::to_string(info.st_uid) +
           "): run teller snapshot as root";
  }
  const std::string scope = read_proc_file("/proc/sys/kernel/yama/ptrace_scope");
  if (!scope.empty() && scope[0] != '0') {
    return "kernel.yama.ptrace_scope is " + scope.substr(0, 1) +
           ": run as root, give teller CAP_SYS_PTRACE, or sysctl kernel.yama.ptrace_scope=0";
  }
  return "run as root or with CAP_SYS_PTRACE (containers: --cap-add=SYS_PTRACE)";
}

}  // namespace teller::snapshot_detail
