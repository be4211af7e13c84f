#include "capture/process_table.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "capture/forwarder.h"

namespace teller::capture {

using Json = nlohmann::ordered_json;

namespace {

// Samples after which a process that is not ours is looked at again: its id may have been reused.
constexpr std::uint64_t kRecheckSamples = 64;

// Whether there is no such process, or nothing of it but a status for its parent.
bool has_ended(std::int64_t pid) {
  const auto stat = read_stat(pid);
  return !stat || stat->state == 'Z';
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
  const bool was_seen = !alive_.contains(pid) && gone != processes_.rend();
  if (was_seen && has_ended(pid)) {
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
  const std::vector<std::int64_t> list = list_pids();
  const std::set<std::int64_t> pids(list.begin(), list.end());
  if (++samples_ % kRecheckSamples == 0) strangers_.clear();
  std::erase_if(strangers_, [&](const auto& item) { return !pids.contains(item.first); });
  for (auto it = alive_.begin(); it != alive_.end();) {
    const std::int64_t pid = it->first;
    ++it;  // set_ended() removes the entry
    if (!pids.contains(pid) || has_ended(pid)) set_ended(pid, -1);
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
