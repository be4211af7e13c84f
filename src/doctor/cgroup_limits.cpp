#include "doctor/cgroup_limits.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <limits>
#include <sstream>

#include "procfs/procfs.h"

namespace teller::doctor_detail {

namespace {

std::string trimmed(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  return text;
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
    if (names.find("," + controller + ",") == std::string::npos) continue;
    const std::string path = line.substr(second + 1);
    // Leads out of the namespace: what is there cannot be seen from here.
    return path.find("/..") == std::string::npos ? path : "";
  }
  return "";
}

// "max", "-1" and the like are no limit; a second number divides the first ("quota period").
double value_of(const std::string& text) {
  std::istringstream words(text);
  double value = 0;
  double period = 1;
  if (!(words >> value) || value < 0) return std::numeric_limits<double>::infinity();
  if (words >> period && period > 0) value /= period;
  return value;
}

// The text of the lowest limit of the group and those above it, up to the mount, which is all that
// a container may see. `text_in` reads the limit of a folder; "" where it has none.
std::string lowest(const std::string& mount, const std::string& path,
                   const std::function<std::string(const std::string&)>& text_in) {
  std::string folder = path == "/" ? mount : mount + path;
  std::string least;
  while (true) {
    const std::string text = text_in(folder);
    if (!text.empty() && (least.empty() || value_of(text) < value_of(least))) least = text;
    const std::size_t slash = folder.rfind('/');
    if (folder.size() <= mount.size() || slash == std::string::npos) return least;
    folder.resize(std::max(slash, mount.size()));
  }
}

// The kernel's word for "none" in version 1 is the largest number of whole pages.
constexpr double kNoMemoryLimit = 9.0e18;

}  // namespace

std::string memory_text(const std::string& limit) {
  if (limit.empty()) return "unknown";
  const double bytes = value_of(limit);
  if (bytes >= kNoMemoryLimit) return "none";
  return std::to_string(static_cast<long long>(bytes / (1 << 20))) + " MiB";
}

std::string cpu_text(const std::string& limit) {
  if (limit.empty()) return "unknown";
  const double cores = value_of(limit);
  if (std::isinf(cores)) return "none";
  char text[48];
  std::snprintf(text, sizeof text, "%.1f cores", cores);
  return text;
}

CgroupLimits cgroup_limits(const std::string& root) {
  const std::string text = read_proc_file(root + "/proc/self/cgroup");
  if (text.empty()) return {};
  const std::string base = root + "/sys/fs/cgroup";
  const auto file = [](const std::string& name) {
    return [name](const std::string& folder) { return trimmed(read_proc_file(folder + name)); };
  };
  if (!read_proc_file(base + "/cgroup.controllers").empty()) {
    const std::string path = cgroup_path(text, "");
    return {2, lowest(base, path, file("/memory.max")), lowest(base, path, file("/cpu.max"))};
  }
  const auto quota = [](const std::string& folder) {
    const std::string most = trimmed(read_proc_file(folder + "/cpu.cfs_quota_us"));
    return most.empty() ? most
                        : most + " " + trimmed(read_proc_file(folder + "/cpu.cfs_period_us"));
  };
  return {1, lowest(base + "/memory", cgroup_path(text, "memory"), file("/memory.limit_in_bytes")),
          lowest(base + "/cpu", cgroup_path(text, "cpu"), quota)};
}

}  // namespace teller::doctor_detail
