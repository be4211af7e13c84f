#include "capture/process_table.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "capture/forwarder.h"

namespace teller::capture {

using Json = nlohmann::ordered_json;

namespace {

// Samples after which a process that is not ours is looked at again: its id may have been reused.
constexpr std::uint64_t kRecheckSamples = 64;
constexpr std::size_t kProcFileLimit = 256 << 10;

std::string read_proc(std::int64_t pid, const char* name) {
  const std::string path = "/proc/" + std::to_string(pid) + "/" + name;
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  std::string text;
  if (fd < 0) return text;
  char buffer[16 << 10];
  ssize_t count = 0;
  while (text.size() < kProcFileLimit && (count = read(fd, buffer, sizeof buffer)) > 0) {
    text.append(buffer, static_cast<std::size_t>(count));
  }
  close(fd);
  return text;
}

struct Stat {
  std::int64_t ppid = 0;
  char state = '?';
  std::uint64_t start_ticks = 0;
  std::string comm;
};

// /proc/<pid>/stat: "pid (comm) state ppid … (22nd field) starttime"; comm may hold blanks and
// parentheses.
std::optional<Stat> read_stat(std::int64_t pid) {
  const std::string text = read_proc(pid, "stat");
  const std::size_t open_mark = text.find('(');
  const std::size_t close_mark = text.rfind(')');
  if (open_mark == std::string::npos || close_mark == std::string::npos) return std::nullopt;
  Stat stat;
  stat.comm = text.substr(open_mark + 1, close_mark - open_mark - 1);
  const char* at = text.c_str() + close_mark + 1;
  int field = 3;
  while (*at == ' ' && field <= 22) {
    ++at;
    if (field == 3) stat.state = *at;
    if (field == 4) stat.ppid = std::strtoll(at, nullptr, 10);
    if (field == 22) stat.start_ticks = std::strtoull(at, nullptr, 10);
    at = std::strchr(at, ' ');
    if (at == nullptr) break;
    ++field;
  }
  return stat;
}

std::int64_t clock_ns(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1000000000 + now.tv_nsec;
}

// Start times count from boot, suspended time included.
std::int64_t start_of(std::uint64_t ticks) {
  const std::int64_t per_second = sysconf(_SC_CLK_TCK);
  const auto since_boot = static_cast<std::int64_t>(ticks) * (1000000000 / per_second);
  return since_boot - (clock_ns(CLOCK_BOOTTIME) - clock_ns(CLOCK_MONOTONIC));
}

std::vector<std::string> split_at_nul(const std::string& text) {
  std::vector<std::string> items;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\0', begin), text.size());
    items.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return items;
}

std::set<std::int64_t> list_pids() {
  std::set<std::int64_t> pids;
  DIR* folder = opendir("/proc");
  if (folder == nullptr) return pids;
  while (const dirent* entry = readdir(folder)) {
    std::int64_t pid = 0;
    const char* end = entry->d_name + std::strlen(entry->d_name);
    const auto result = std::from_chars(entry->d_name, end, pid);
    if (result.ec == std::errc() && result.ptr == end) pids.insert(pid);
  }
  closedir(folder);
  return pids;
}

}  // namespace

ProcessTable::ProcessTable(std::string socket, const Redactor* redactor)
    : socket_(std::move(socket)), redactor_(redactor) {}

void ProcessTable::add(ProcessInfo process) {
  alive_[process.pid] = processes_.size();
  processes_.push_back(std::move(process));
  changed_ = true;
}

void ProcessTable::add_root(std::int64_t pid, std::vector<std::string> argv) {
  if (alive_.contains(pid)) return;  // it announced itself before the launcher did
  ProcessInfo process;
  process.pid = pid;
  process.ppid = getpid();
  process.start_ns = monotonic_ns();
  process.argv = std::move(argv);
  if (const auto stat = read_stat(pid)) process.ppid = stat->ppid;
  add(std::move(process));
}

void ProcessTable::add_traced(std::int64_t pid, std::int64_t ppid) {
  const auto gone = std::find_if(processes_.rbegin(), processes_.rend(),
                                 [&](const ProcessInfo& process) { return process.pid == pid; });
  const bool just_ended = !alive_.contains(pid) && gone != processes_.rend();
  if (just_ended && kill(static_cast<pid_t>(pid), 0) != 0) {
    gone->library = true;  // its greeting was read after its end
    changed_ = true;
    return;
  }
  if (!alive_.contains(pid)) {
    ProcessInfo process;
    process.pid = pid;
    process.ppid = ppid;
    process.start_ns = monotonic_ns();
    if (const auto stat = read_stat(pid)) process.start_ns = start_of(stat->start_ticks);
    add(std::move(process));
  }
  ProcessInfo& process = processes_[alive_[pid]];
  process.library = true;
  refresh(process);
  // Gone before we could look: a forked child is what its parent was.
  const auto parent = alive_.find(ppid);
  if (process.argv.empty() && parent != alive_.end()) {
    process.argv = processes_[parent->second].argv;
    process.comm = processes_[parent->second].comm;
  }
  changed_ = true;
}

void ProcessTable::set_ended(std::int64_t pid, int wait_status) {
  const auto found = alive_.find(pid);
  if (found == alive_.end()) {
    for (auto it = processes_.rbegin(); it != processes_.rend(); ++it) {
      if (it->pid != pid) continue;
      if (wait_status != -1) it->wait_status = wait_status;
      changed_ = true;
      return;
    }
    return;
  }
  ProcessInfo& process = processes_[found->second];
  process.end_ns = monotonic_ns();
  process.wait_status = wait_status;
  alive_.erase(found);
  changed_ = true;
}

// Name and arguments change with exec, and with setproctitle.
void ProcessTable::refresh(ProcessInfo& process) {
  const auto stat = read_stat(process.pid);
  if (!stat || stat->state == 'Z') return;
  std::vector<std::string> argv = split_at_nul(read_proc(process.pid, "cmdline"));
  if (stat->comm == process.comm && (argv.empty() || argv == process.argv)) return;
  process.comm = stat->comm;
  if (!argv.empty()) process.argv = std::move(argv);
  changed_ = true;
}

std::string start_variable(std::int64_t pid, const std::string& name) {
  const std::string environment = '\0' + read_proc(pid, "environ");
  const std::string key = '\0' + name + '=';
  const std::size_t found = environment.find(key);
  if (found == std::string::npos) return "";
  const std::size_t begin = found + key.size();
  return environment.substr(begin, environment.find('\0', begin) - begin);
}

bool ProcessTable::belongs(std::int64_t pid, std::int64_t ppid) const {
  if (alive_.contains(ppid)) return true;
  const std::string environment = '\0' + read_proc(pid, "environ");
  return environment.find('\0' + ("TELLER_SOCKET=" + socket_) + '\0') != std::string::npos;
}

void ProcessTable::look_at(std::int64_t pid) {
  const auto stat = read_stat(pid);
  if (!stat || stat->state == 'Z' || pid == getpid()) return;
  if (!belongs(pid, stat->ppid)) {
    strangers_[pid] = stat->start_ticks;
    return;
  }
  ProcessInfo process;
  process.pid = pid;
  process.ppid = stat->ppid;
  process.start_ns = start_of(stat->start_ticks);
  process.comm = stat->comm;
  process.argv = split_at_nul(read_proc(pid, "cmdline"));
  add(std::move(process));
}

void ProcessTable::sample() {
  const std::set<std::int64_t> pids = list_pids();
  if (++samples_ % kRecheckSamples == 0) strangers_.clear();
  std::erase_if(strangers_, [&](const auto& item) { return !pids.contains(item.first); });
  for (auto it = alive_.begin(); it != alive_.end();) {
    const std::int64_t pid = it->first;
    ++it;  // set_ended() removes the entry
    const auto stat = read_stat(pid);
    if (!pids.contains(pid) || !stat || stat->state == 'Z') set_ended(pid, -1);
  }
  for (const std::int64_t pid : pids) {
    if (!alive_.contains(pid) && !strangers_.contains(pid)) look_at(pid);
  }
  if (samples_ % 8 == 0) {
    for (const auto& [pid, index] : alive_) refresh(processes_[index]);
  }
}

std::vector<std::string> ProcessTable::argv_of(std::int64_t pid) const {
  const auto found = alive_.find(pid);
  if (found == alive_.end()) return {};
  RedactCounts counted_in_to_jsonl;
  return redactor_->arguments(processes_[found->second].argv, counted_in_to_jsonl);
}

std::vector<ProcessInfo> ProcessTable::living() const {
  std::vector<ProcessInfo> living;
  for (const auto& [pid, index] : alive_) living.push_back(processes_[index]);
  return living;
}

bool ProcessTable::take_changed() {
  return std::exchange(changed_, false);
}

std::string ProcessTable::to_jsonl(RedactCounts& redacted) const {
  redacted = {};
  std::string text;
  for (const ProcessInfo& process : processes_) {
    Json line;
    line["pid"] = process.pid;
    line["ppid"] = process.ppid;
    line["start"] = process.start_ns;
    line["end"] = process.end_ns < 0 ? Json() : Json(process.end_ns);
    line["exit"] = Json();
    line["signal"] = Json();
    if (process.wait_status != -1) {
      if (WIFEXITED(process.wait_status)) line["exit"] = WEXITSTATUS(process.wait_status);
      if (WIFSIGNALED(process.wait_status)) line["signal"] = WTERMSIG(process.wait_status);
    }
    line["argv"] = redactor_->arguments(process.argv, redacted);
    line["comm"] = process.comm;
    line["library"] = process.library;
    text += line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  }
  return text;
}

}  // namespace teller::capture
