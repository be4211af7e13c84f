#include "context/host.h"

#include <unistd.h>

#include <cstdlib>

#include "context/small_file.h"

namespace teller {

namespace {

using Json = ContextRecord;

std::uint64_t ns_per_tick() {
  static const auto kNs = static_cast<std::uint64_t>(1'000'000'000 / sysconf(_SC_CLK_TCK));
  return kNs;
}
std::uint64_t page_bytes() {
  static const auto kBytes = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  return kBytes;
}

template <typename T>
void set(Json& json, const char* key, const std::optional<T>& value) {
  if (value) json[key] = *value;
}

// /proc/PID/stat behind "(comm)": fields from the third on.
void add_stat(std::string_view fields, Json& json) {
  for (int field = 3; field <= 24 && !fields.empty(); ++field) {
    const std::string_view word = take_word(fields);
    const auto number = to_number(word);
    if (field == 3) json["state"] = std::string(word);
    if (!number) continue;
    if (field == 10) json["minor_faults"] = *number;
    if (field == 12) json["major_faults"] = *number;
    if (field == 14) json["user_ns"] = *number * ns_per_tick();
    if (field == 15) json["sys_ns"] = *number * ns_per_tick();
    if (field == 20) json["threads"] = *number;
    if (field == 24) json["rss"] = *number * page_bytes();
  }
}

// "cpu  user nice system idle iowait irq softirq steal": time of all CPUs together.
void add_cpu(const std::string& root, Json& json) {
  const auto text = read_small_file(root + "/proc/stat");
  if (!text) return;
  std::string_view rest = *text;
  std::string_view line = take_line(rest);
  if (take_word(line) != "cpu") return;
  Json cpu;
  for (const char* key : {"user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal"}) {
    if (const auto ticks = to_number(take_word(line))) cpu[key] = *ticks * ns_per_tick();
  }
  json["cpu_ns"] = std::move(cpu);
}

void add_memory(const std::string& root, Json& json) {
  const auto text = read_small_file(root + "/proc/meminfo");
  if (!text) return;
  const auto bytes = [&](const char* key) -> std::optional<std::uint64_t> {
    const auto kilobytes = number_after(*text, key);
    return kilobytes ? std::optional(*kilobytes * 1024) : std::nullopt;
  };
  set(json, "memory_total", bytes("MemTotal"));
  set(json, "memory_available", bytes("MemAvailable"));
  set(json, "swap_total", bytes("SwapTotal"));
  set(json, "swap_free", bytes("SwapFree"));
}

// "some avg10=88.68 … total=13307668981": microseconds in which some task waited.
void add_pressure(const std::string& root, Json& json) {
  Json pressure = Json::object();
  for (const char* what : {"cpu", "memory", "io"}) {
    const auto text = read_small_file(root + "/proc/pressure/" + what);
    if (!text) continue;
    std::string_view rest = *text;
    while (!rest.empty()) {
      std::string_view line = take_line(rest);
      const std::string_view kind = take_word(line);
      const std::size_t total = line.find("total=");
      if ((kind != "some" && kind != "full") || total == std::string_view::npos) continue;
      std::string_view value = line.substr(total + 6);
      if (const auto us = to_number(take_word(value))) {
        pressure[what][std::string(kind) + "_us"] = *us;
      }
    }
  }
  if (!pressure.empty()) json["pressure"] = std::move(pressure);
}

// All interfaces but the loopback together.
void add_network(const std::string& root, Json& json) {
  const auto text = read_small_file(root + "/proc/net/dev");
  if (!text) return;
  constexpr const char* kKeys[] = {"rx_bytes", "rx_packets", "rx_errors", "rx_drops",
                                   "",         "",           "",          "",
                                   "tx_bytes", "tx_packets", "tx_errors", "tx_drops"};
  Json network = {{"rx_bytes", 0}, {"tx_bytes", 0}};
  std::string_view rest = *text;
  while (!rest.empty()) {
    std::string_view line = take_line(rest);
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    std::string_view name = line.substr(0, colon);
    if (take_word(name) == "lo") continue;
    line.remove_prefix(colon + 1);
    for (const char* key : kKeys) {
      const auto number = to_number(take_word(line));
      if (*key == '\0' || !number) continue;
      network[key] = network.value(key, std::uint64_t{0}) + *number;
    }
  }
  json["network"] = std::move(network);
}

// A disk itself, not one of its partitions, and none that is backed by another.
bool is_whole_disk(const std::string& root, std::string_view name) {
  for (const std::string_view front : {"loop", "ram", "zram", "dm-", "md", "nbd"}) {
    if (name.starts_with(front)) return false;
  }
  return access((root + "/sys/block/" + std::string(name)).c_str(), F_OK) == 0;
}

// All disks together. Sectors have 512 bytes, whatever the disk's own are.
void add_disks(const std::string& root, Json& json) {
  const auto text = read_small_file(root + "/proc/diskstats");
  if (!text) return;
  std::uint64_t read = 0;
  std::uint64_t written = 0;
  std::uint64_t busy_ms = 0;
  std::string_view rest = *text;
  while (!rest.empty()) {
    std::string_view line = take_line(rest);
    std::string_view words[13];
    for (std::string_view& word : words) word = take_word(line);
    if (!is_whole_disk(root, words[2])) continue;
    read += to_number(words[5]).value_or(0) * 512;
    written += to_number(words[9]).value_or(0) * 512;
    busy_ms += to_number(words[12]).value_or(0);
  }
  json["disk"] = {{"read_bytes", read}, {"written_bytes", written}, {"busy_ms", busy_ms}};
}

}  // namespace

std::optional<ContextRecord> sample_process(const std::string& root, std::int64_t pid) {
  const std::string folder = root + "/proc/" + std::to_string(pid) + "/";
  const auto stat = read_small_file(folder + "stat");
  // comm may hold blanks and parentheses.
  const std::size_t close = stat ? stat->rfind(')') : std::string::npos;
  if (close == std::string::npos) return std::nullopt;
  Json json = {{"kind", "process"}, {"pid", pid}};
  add_stat(std::string_view(*stat).substr(close + 1), json);
  if (const auto status = read_small_file(folder + "status")) {
    set(json, "voluntary_switches", number_after(*status, "voluntary_ctxt_switches"));
    set(json, "involuntary_switches", number_after(*status, "nonvoluntary_ctxt_switches"));
  }
  if (const auto io = read_small_file(folder + "io")) {
    set(json, "read_bytes", number_after(*io, "read_bytes"));
    set(json, "written_bytes", number_after(*io, "write_bytes"));
  }
  return json;
}

ContextRecord sample_host(const std::string& root) {
  Json json = {{"kind", "host"}};
  if (const auto text = read_small_file(root + "/proc/loadavg")) {
    json["load1"] = std::strtod(text->c_str(), nullptr);
  }
  add_cpu(root, json);
  add_memory(root, json);
  add_pressure(root, json);
  add_network(root, json);
  add_disks(root, json);
  return json;
}

}  // namespace teller
