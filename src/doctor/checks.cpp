#include "doctor/checks.h"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>

#include "base/command.h"
#include "doctor/cgroup_limits.h"
#include "procfs/procfs.h"

namespace teller::doctor_detail {

namespace {

std::string trimmed(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  return text;
}

void check_ptrace(Checks& checks) {
  const std::string scope = trimmed(read_proc_file("/proc/sys/kernel/yama/ptrace_scope"));
  const bool root = geteuid() == 0;
  Check check{"ptrace", CheckStatus::kOk, "kernel.yama.ptrace_scope is not there", "", false};
  if (!scope.empty()) check.detail = "kernel.yama.ptrace_scope is " + scope;
  if (root) check.detail += ", running as root";
  const std::string status = read_proc_file("/proc/self/status");
  const std::uint64_t held = std::strtoull(status_field(status, "CapEff").c_str(), nullptr, 16);
  constexpr int kSysPtrace = 19;
  const bool capable = (held >> kSysPtrace & 1) != 0;
  if ((!scope.empty() && scope != "0" && !capable) || scope == "3") {
    check.status = CheckStatus::kWarning;
    check.hint =
        "snapshot sees no stacks: sysctl kernel.yama.ptrace_scope=0, or CAP_SYS_PTRACE (docker "
        "--cap-add=SYS_PTRACE)";
  }
  checks.push_back(check);
}

void check_program(const char* name, const char* use, const char* install, Checks& checks) {
  const std::string path = find_program(name);
  checks.push_back({name, path.empty() ? CheckStatus::kWarning : CheckStatus::kOk,
                    path.empty() ? std::string("not on PATH: ") + use : path,
                    path.empty() ? install : "", false});
}

// Mean of many readings, in nanoseconds.
std::int64_t clock_cost_ns() {
  constexpr int kReadings = 100000;
  const std::int64_t begin = clock_ns(CLOCK_MONOTONIC);
  for (int i = 0; i < kReadings; ++i) clock_ns(CLOCK_MONOTONIC);
  return (clock_ns(CLOCK_MONOTONIC) - begin) / kReadings;
}

void check_clock(Checks& checks) {
  const std::string source =
      trimmed(read_proc_file("/sys/devices/system/clocksource/clocksource0/current_clocksource"));
  const std::int64_t cost = clock_cost_ns();
  const bool fast = cost < 200;
  checks.push_back({"clock", fast ? CheckStatus::kOk : CheckStatus::kWarning,
                    "source " + (source.empty() ? "unknown" : source) + ", one reading takes " +
                        std::to_string(cost) + " ns",
                    fast ? "" : "each range reads it twice: a tsc clock source costs some 25 ns",
                    false});
}

void check_cgroup(Checks& checks) {
  const CgroupLimits limits = cgroup_limits("");
  if (limits.version == 0) {
    checks.push_back({"cgroup", CheckStatus::kWarning, "unknown",
                      "limits of the container cannot be read", false});
    return;
  }
  checks.push_back({"cgroup", CheckStatus::kOk,
                    "version " + std::to_string(limits.version) + ", memory limit " +
                        memory_text(limits.memory) + ", CPU limit " + cpu_text(limits.cpu),
                    "", false});
}

void check_container(Checks& checks) {
  const std::string status = read_proc_file("/proc/self/status");
  std::istringstream ids(status_field(status, "NSpid"));
  std::string id;
  int levels = 0;
  while (ids >> id) ++levels;
  const bool inside = access("/.dockerenv", F_OK) == 0 || access("/run/.containerenv", F_OK) == 0;
  const bool filtered = status_field(status, "Seccomp") == "2";
  std::string detail = inside ? "in a container" : "no container is visible";
  if (levels > 1) detail += ", process ids are nested";
  if (filtered) detail += ", a seccomp filter is at work";
  checks.push_back({"container", CheckStatus::kOk, detail, "", false});
}

}  // namespace

std::string first_line(const std::string& text) {
  return text.substr(0, std::min({text.find('\n'), text.size(), std::size_t{200}}));
}

void check_machine(Checks& checks) {
  check_ptrace(checks);
  check_program("py-spy", "snapshot takes no Python stacks", "pip install py-spy", checks);
  check_program("gdb", "snapshot --pause takes no native stacks of running threads",
                "apt-get install gdb", checks);
  check_clock(checks);
  check_cgroup(checks);
  check_container(checks);
}

}  // namespace teller::doctor_detail
