#include "procfs/procfs.h"

#include <dirent.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>

namespace teller {

namespace {

std::vector<std::int64_t> numbers_in(const std::string& path) {
  std::vector<std::int64_t> numbers;
  DIR* folder = opendir(path.c_str());
  if (folder == nullptr) return numbers;
  while (const dirent* entry = readdir(folder)) {
    std::int64_t number = 0;
    const char* end = entry->d_name + std::strlen(entry->d_name);
    const auto result = std::from_chars(entry->d_name, end, number);
    if (result.ec == std::errc() && result.ptr == end) numbers.push_back(number);
  }
  closedir(folder);
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

std::string of_process(std::int64_t pid, std::string_view name) {
  return "/proc/" + std::to_string(pid) + "/" + std::string(name);
}

}  // namespace

std::string read_proc_file(const std::string& path, int* error) {
  if (error != nullptr) *error = 0;
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  std::string text;
  if (fd < 0) {
    if (error != nullptr) *error = errno;
    return text;
  }
  char buffer[16 << 10];
  ssize_t count = 0;
  while (text.size() < kMostProcBytes && (count = read(fd, buffer, sizeof buffer)) > 0) {
    text.append(buffer, static_cast<std::size_t>(count));
  }
  if (count < 0 && error != nullptr) *error = errno;
  close(fd);
  return text;
}

std::string read_proc(std::int64_t pid, std::string_view name, int* error) {
  return read_proc_file(of_process(pid, name), error);
}

std::optional<ProcStat> parse_stat(std::string_view view) {
  const std::string text(view);
  const std::size_t open_mark = text.find('(');
  const std::size_t close_mark = text.rfind(')');
  if (open_mark == std::string::npos || close_mark == std::string::npos || close_mark < open_mark) {
    return std::nullopt;
  }
  ProcStat stat;
  stat.comm = text.substr(open_mark + 1, close_mark - open_mark - 1);
  const char* at = text.c_str() + close_mark + 1;
  for (int field = 3; *at == ' '; ++field) {
    ++at;
    if (field == 3) stat.state = *at;
    if (field == 4) stat.ppid = std::strtoll(at, nullptr, 10);
    if (field == 14 || field == 15) stat.cpu_ticks += std::strtoull(at, nullptr, 10);
    if (field == 22) stat.start_ticks = std::strtoull(at, nullptr, 10);
    if (field == 24) stat.rss_pages = std::strtoull(at, nullptr, 10);
    if (field == 52) stat.exit_code = std::atoi(at);
    at = std::strchr(at, ' ');
    if (at == nullptr) break;
  }
  return stat;
}

std::optional<ProcStat> read_stat(std::int64_t pid) {
  return parse_stat(read_proc(pid, "stat"));
}

std::optional<ProcStat> read_task_stat(std::int64_t pid, std::int64_t tid) {
  return parse_stat(read_proc(pid, "task/" + std::to_string(tid) + "/stat"));
}

std::string status_field(std::string_view status, std::string_view name) {
  std::string_view rest = status;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (!line.starts_with(name) || line.size() <= name.size() || line[name.size()] != ':') continue;
    std::string_view value = line.substr(name.size() + 1);
    while (!value.empty() && (value.front() == ' ' || value.front() == '\t'))
      value.remove_prefix(1);
    while (!value.empty() && (value.back() == ' ' || value.back() == '\t')) value.remove_suffix(1);
    return std::string(value);
  }
  return "";
}

std::vector<std::int64_t> list_pids() {
  return numbers_in("/proc");
}

std::vector<std::int64_t> list_tasks(std::int64_t pid) {
  return numbers_in(of_process(pid, "task"));
}

std::vector<std::string> split_at_nul(std::string_view text) {
  std::vector<std::string> items;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\0', begin), text.size());
    items.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return items;
}

std::string variable_in(std::string_view environ_text, const std::string& name) {
  std::string environment(1, '\0');
  environment += environ_text;
  const std::string key = '\0' + name + '=';
  const std::size_t found = environment.find(key);
  if (found == std::string::npos) return "";
  const std::size_t begin = found + key.size();
  return environment.substr(begin, environment.find('\0', begin) - begin);
}

std::string start_variable(std::int64_t pid, const std::string& name) {
  return variable_in(read_proc(pid, "environ"), name);
}

std::int64_t clock_ns(int clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1000000000 + now.tv_nsec;
}

// Start times count from boot, suspended time included.
std::int64_t start_of(std::uint64_t start_ticks) {
  const std::int64_t per_second = sysconf(_SC_CLK_TCK);
  const auto since_boot = static_cast<std::int64_t>(start_ticks) * (1000000000 / per_second);
  return since_boot - (clock_ns(CLOCK_BOOTTIME) - clock_ns(CLOCK_MONOTONIC));
}

}  // namespace teller
