#include "snapshot/members.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <utility>

#include "procfs/procfs.h"
#include "snapshot/secrets.h"

namespace teller::snapshot_detail {

namespace {

// A dead sibling is the job's only if it was started with the ranks.
constexpr std::int64_t kStartedTogetherNs = 60'000'000'000;

struct Listing {
  std::map<std::int64_t, ProcStat> stats;                    // by pid
  std::multimap<std::int64_t, std::int64_t> children;        // ppid -> pid
  std::map<std::int64_t, std::vector<std::string>> cmdline;  // read when asked for

  const std::vector<std::string>& argv(std::int64_t pid) {
    auto [at, fresh] = cmdline.try_emplace(pid);
    if (fresh) at->second = split_at_nul(read_proc(pid, "cmdline"));
    return at->second;
  }
};

Listing list_all() {
  Listing all;
  for (const std::int64_t pid : list_pids()) {
    if (const auto stat = read_stat(pid)) {
      all.stats[pid] = *stat;
      all.children.emplace(stat->ppid, pid);
    }
  }
  return all;
}

// Variables that name a job; "" where the process has none.
std::string job_key(const std::string& environment) {
  const auto get = [&](const char* name) { return variable_in(environment, name); };
  if (!get("RANK").empty() && !get("MASTER_ADDR").empty() && !get("MASTER_PORT").empty()) {
    return "master " + get("MASTER_ADDR") + ":" + get("MASTER_PORT");
  }
  if (!get("SLURM_JOB_ID").empty() && !get("SLURM_PROCID").empty()) {
    return "slurm " + get("SLURM_JOB_ID") + "." + get("SLURM_STEP_ID");
  }
  return "";
}

// Whether `pid` was made by its parent as a worker of the same program: a fork without exec, a
// child of multiprocessing, or an engine's process that carries the engine's title.
bool is_worker_of_parent(Listing& all, std::int64_t pid, std::int64_t parent) {
  if (parent <= 1 || !all.stats.contains(parent)) return false;
  const auto& own = all.argv(pid);
  if (!own.empty() && own == all.argv(parent)) return true;
  for (const std::string& argument : own) {
    if (argument == "--multiprocessing-fork" || argument.starts_with("from multiprocessing."))
      return true;
  }
  const std::string title = own.empty() ? all.stats[pid].comm : own.front();
  return title.starts_with("VLLM::") || title.starts_with("sglang::");
}

class Finder {
 public:
  Finder(const SnapshotOptions& options, Job& job)
      : options_(options), job_(job), all_(list_all()) {}

  Status run() {
    for (const std::int64_t pid : options_.pids) {
      if (!all_.stats.contains(pid)) return missing(pid);
    }
    for (const std::int64_t pid : options_.pids) add(pid, "asked");
    if (options_.job) add_parents();
    add_descendants();
    if (options_.job) {
      add_ranks();
      add_descendants();
      add_dead_siblings();
    }
    return {};
  }

 private:
  static Error missing(std::int64_t pid) {
    return {ErrorCode::kNotFound,
            "taking a snapshot of process " + std::to_string(pid) + ": there is no such process",
            "it may have ended; find processes with ps aux, or pgrep -f NAME"};
  }

  void add(std::int64_t pid, const char* role) {
    const auto found = all_.stats.find(pid);
    if (found == all_.stats.end() || pid == getpid() || known_.contains(pid)) return;
    if (job_.processes.size() == kMostProcesses) {
      job_.add_gap("processes", 0,
                   "the job has more than " + std::to_string(kMostProcesses) + " processes",
                   "give fewer PIDs, with --no-job");
      return;
    }
    known_.insert(pid);
    Process process;
    process.pid = pid;
    process.ppid = found->second.ppid;
    process.start_ns = start_of(found->second.start_ticks);
    process.role = role;
    process.state = found->second.state;
    process.exit_code = found->second.exit_code;
    process.comm = redact(found->second.comm);
    process.argv = redact_arguments(all_.argv(pid));
    int error = 0;
    process.environment = read_proc(pid, "environ", &error);
    process.readable = error == 0 && process.state != 'Z';
    if (error == EACCES || error == EPERM) {
      job_.add_gap("environment, system calls, native stacks, open files", pid, "not permitted",
                   permission_hint(pid));
    }
    job_.processes.push_back(std::move(process));
  }

  void add_parents() {
    for (std::size_t i = 0; i < job_.processes.size(); ++i) {
      const std::int64_t pid = job_.processes[i].pid;
      const std::int64_t parent = job_.processes[i].ppid;
      if (is_worker_of_parent(all_, pid, parent)) add(parent, "job");
    }
  }

  void add_descendants() {
    if (!options_.children) return;
    for (std::size_t i = 0; i < job_.processes.size(); ++i) {
      const auto [begin, end] = all_.children.equal_range(job_.processes[i].pid);
      for (auto at = begin; at != end; ++at) add(at->second, "descendant");
    }
  }

  void add_ranks() {
    std::set<std::string> keys;
    for (const Process& process : job_.processes) keys.insert(job_key(process.environment));
    keys.erase("");
    if (keys.empty()) return;
    for (const auto& [pid, stat] : all_.stats) {
      if (known_.contains(pid) || stat.state == 'Z') continue;
      if (keys.contains(job_key(read_proc(pid, "environ")))) add(pid, "job");
    }
  }

  // A dead process has no environment any more; its parent and its start tell that it was a rank.
  void add_dead_siblings() {
    std::set<std::pair<std::int64_t, std::int64_t>> ranks;  // parent, start
    for (const Process& process : job_.processes) {
      if (!job_key(process.environment).empty()) ranks.insert({process.ppid, process.start_ns});
    }
    for (const auto& [parent, start] : ranks) {
      const auto [begin, end] = all_.children.equal_range(parent);
      for (auto at = begin; at != end; ++at) {
        const ProcStat& stat = all_.stats[at->second];
        const std::int64_t apart = start_of(stat.start_ticks) - start;
        if (stat.state == 'Z' && apart < kStartedTogetherNs && -apart < kStartedTogetherNs)
          add(at->second, "sibling");
      }
    }
  }

  const SnapshotOptions& options_;
  Job& job_;
  Listing all_;
  std::set<std::int64_t> known_;
};

}  // namespace

Status find_members(const SnapshotOptions& options, Job& job) {
  return Finder(options, job).run();
}

}  // namespace teller::snapshot_detail
