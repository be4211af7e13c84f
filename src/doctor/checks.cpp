#include "doctor/checks.h"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>

#include "base/command.h"
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

// Path of this process in the hierarchy of `controller`; "" where there is none.
std::string cgroup_path(const std::string& text, const std::string& controller) {
  std::istringstream lines(text);
  std::string line;
  while (std::getline(lines, line)) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string names = "," + line.substr(first + 1, second - first - 1) + ",";
    if (names.find("," + controller + ",") != std::string::npos) return line.substr(second + 1);
  }
  return "";
}

// The file of a cgroup, or that of the mount's root, as containers show it.
std::string cgroup_value(const std::string& mount, const std::string& path,
                         const std::string& file) {
  std::string text = trimmed(read_proc_file(mount + path + "/" + file));
  if (text.empty()) text = trimmed(read_proc_file(mount + "/" + file));
  return text;
}

void check_cgroup(Checks& checks) {
  const std::string text = read_proc_file("/proc/self/cgroup");
  const bool unified = !read_proc_file("/sys/fs/cgroup/cgroup.controllers").empty();
  std::string memory, quota;
  if (unified) {
    const std::string path = cgroup_path(text, "");
    memory = cgroup_value("/sys/fs/cgroup", path, "memory.max");
    quota = cgroup_value("/sys/fs/cgroup", path, "cpu.max");
  } else {
    memory =
        cgroup_value("/sys/fs/cgroup/memory", cgroup_path(text, "memory"), "memory.limit_in_bytes");
    quota = cgroup_value("/sys/fs/cgroup/cpu", cgroup_path(text, "cpu"), "cpu.cfs_quota_us");
  }
  const auto shown = [](const std::string& value) { return value.empty() ? "unknown" : value; };
  checks.push_back({"cgroup", text.empty() ? CheckStatus::kWarning : CheckStatus::kOk,
                    std::string(unified ? "version 2" : "version 1") + ", memory limit " +
                        shown(memory) + ", CPU quota " + shown(quota),
                    text.empty() ? "limits of the container cannot be read" : "", false});
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
