#include "context/cgroup.h"

#include <unistd.h>

#include <algorithm>
#include <functional>
#include <string_view>

#include "context/small_file.h"

namespace teller {

namespace {

using Json = ContextRecord;

// What version 1 says where there is no limit is near the largest number.
constexpr std::uint64_t kNoLimitBytes = std::uint64_t{1} << 60;

bool has_item(std::string_view list, std::string_view item) {
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    if (list.substr(0, comma) == item) return true;
    list.remove_prefix(comma == std::string_view::npos ? list.size() : comma + 1);
  }
  return false;
}

// The folder of a group: below its mount, or the mount itself where a container sees only that.
std::string folder_of(const std::string& mount, const std::string& path) {
  const std::string folder = path == "/" ? mount : mount + path;
  return access(folder.c_str(), F_OK) == 0 ? folder : mount;
}

// Calls visit(folder) for the group and each one above it, up to its mount.
void climb(const std::string& mount, std::string folder,
           const std::function<void(const std::string&)>& visit) {
  while (true) {
    visit(folder);
    const std::size_t slash = folder.rfind('/');
    if (folder.size() <= mount.size() || slash == std::string::npos) return;
    folder.resize(std::max(slash, mount.size()));
  }
}

void lower(std::optional<double>& least, double value) {
  least = least ? std::min(*least, value) : value;
}

void set(Json& json, const char* key, const std::optional<std::uint64_t>& value,
         std::uint64_t unit = 1) {
  if (value) json[key] = *value * unit;
}

std::optional<std::uint64_t> number_in(const std::string& path) {
  const auto text = read_small_file(path);
  if (!text) return std::nullopt;
  std::string_view rest = *text;
  std::string_view line = take_line(rest);
  return to_number(take_word(line));
}

void add_limits(Json& json, const std::optional<double>& cores,
                const std::optional<double>& bytes) {
  json["cpu_limit"] = cores ? Json(*cores) : Json();
  json["memory_limit"] = bytes ? Json(static_cast<std::uint64_t>(*bytes)) : Json();
}

Json sample_v1(const std::string& root, const CgroupPlace& place) {
  const std::string base = root + "/sys/fs/cgroup/";
  Json json = {
      {"kind", "cgroup"}, {"version", 1}, {"cpu_path", place.cpu}, {"memory_path", place.memory}};
  const std::string cpu = folder_of(base + "cpu", place.cpu);
  const std::string memory = folder_of(base + "memory", place.memory);
  std::optional<double> cores;
  climb(base + "cpu", cpu, [&](const std::string& folder) {
    const auto quota = number_in(folder + "/cpu.cfs_quota_us");  // -1: none
    const auto period = number_in(folder + "/cpu.cfs_period_us");
    if (quota && period && *period > 0) {
      lower(cores, static_cast<double>(*quota) / static_cast<double>(*period));
    }
  });
  std::optional<double> bytes;
  climb(base + "memory", memory, [&](const std::string& folder) {
    const auto limit = number_in(folder + "/memory.limit_in_bytes");
    if (limit && *limit < kNoLimitBytes) lower(bytes, static_cast<double>(*limit));
  });
  add_limits(json, cores, bytes);
  set(json, "cpu_usage_ns",
      number_in(folder_of(base + "cpuacct", place.cpuacct) + "/cpuacct.usage"));
  if (const auto stat = read_small_file(cpu + "/cpu.stat")) {
    set(json, "periods", number_after(*stat, "nr_periods"));
    set(json, "throttled_periods", number_after(*stat, "nr_throttled"));
    set(json, "throttled_ns", number_after(*stat, "throttled_time"));
  }
  set(json, "memory_bytes", number_in(memory + "/memory.usage_in_bytes"));
  set(json, "memory_peak", number_in(memory + "/memory.max_usage_in_bytes"));
  set(json, "memory_limit_hits", number_in(memory + "/memory.failcnt"));
  if (const auto control = read_small_file(memory + "/memory.oom_control")) {
    set(json, "oom_kills", number_after(*control, "oom_kill"));
  }
  return json;
}

Json sample_v2(const std::string& root, const CgroupPlace& place) {
  std::string mount = root + "/sys/fs/cgroup";
  // Beside version 1, version 2 has a mount of its own, without controllers.
  if (access((mount + "/unified").c_str(), F_OK) == 0) mount += "/unified";
  const std::string group = folder_of(mount, place.cpu);
  Json json = {{"kind", "cgroup"}, {"version", 2}, {"path", place.cpu}};
  std::optional<double> cores;
  std::optional<double> bytes;
  climb(mount, group, [&](const std::string& folder) {
    if (const auto text = read_small_file(folder + "/cpu.max")) {
      std::string_view rest = *text;
      std::string_view line = take_line(rest);
      const auto quota = to_number(take_word(line));  // "max": none
      const auto period = to_number(take_word(line));
      if (quota && period && *period > 0) {
        lower(cores, static_cast<double>(*quota) / static_cast<double>(*period));
      }
    }
    const auto limit = number_in(folder + "/memory.max");
    if (limit) lower(bytes, static_cast<double>(*limit));
  });
  add_limits(json, cores, bytes);
  if (const auto stat = read_small_file(group + "/cpu.stat")) {
    set(json, "cpu_usage_ns", number_after(*stat, "usage_usec"), 1000);
    set(json, "periods", number_after(*stat, "nr_periods"));
    set(json, "throttled_periods", number_after(*stat, "nr_throttled"));
    set(json, "throttled_ns", number_after(*stat, "throttled_usec"), 1000);
  }
  set(json, "memory_bytes", number_in(group + "/memory.current"));
  set(json, "memory_peak", number_in(group + "/memory.peak"));
  if (const auto events = read_small_file(group + "/memory.events")) {
    set(json, "memory_limit_hits", number_after(*events, "max"));
    set(json, "oom_kills", number_after(*events, "oom_kill"));
  }
  return json;
}

}  // namespace

std::optional<CgroupPlace> cgroup_of(const std::string& root, std::int64_t pid) {
  const auto text = read_small_file(root + "/proc/" + std::to_string(pid) + "/cgroup");
  if (!text) return std::nullopt;
  CgroupPlace place;
  std::string unified;
  std::string_view rest = *text;
  while (!rest.empty()) {
    const std::string_view line = take_line(rest);
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string_view::npos || second == std::string_view::npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    const std::string path(line.substr(second + 1));
    // Leads out of the namespace: what is there cannot be seen from here.
    if (path.find("/..") != std::string::npos) continue;
    if (controllers.empty()) unified = path;
    if (has_item(controllers, "cpu")) place.cpu = path;
    if (has_item(controllers, "cpuacct")) place.cpuacct = path;
    if (has_item(controllers, "memory")) place.memory = path;
  }
  if (!place.cpu.empty() || !place.memory.empty()) {
    place.version = 1;
  } else if (!unified.empty()) {
    place = {2, unified, "", ""};
  } else {
    return std::nullopt;
  }
  return place;
}

ContextRecord sample_cgroup(const std::string& root, const CgroupPlace& place) {
  return place.version == 1 ? sample_v1(root, place) : sample_v2(root, place);
}

}  // namespace teller
