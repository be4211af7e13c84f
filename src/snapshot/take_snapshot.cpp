#include <time.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/log.h"
#include "procfs/procfs.h"
#include "snapshot/collect.h"
#include "snapshot/details.h"
#include "snapshot/live_environment.h"
#include "snapshot/members.h"
#include "snapshot/snapshot.h"
#include "snapshot/surroundings.h"
#include "snapshot/write.h"
#include "snapshot/write_events.h"

namespace teller {

namespace {

using snapshot_detail::add_live_environment;
using snapshot_detail::Contents;
using snapshot_detail::Job;
using snapshot_detail::OpenFiles;
using snapshot_detail::Process;
using Json = nlohmann::ordered_json;

constexpr int kToolTimeoutMs = 5000;

std::string default_output() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  localtime_r(&now, &parts);
  std::array<char, 64> text{};
  std::strftime(text.data(), text.size(), "runs/snapshot-%Y%m%d-%H%M%S", &parts);
  return text.data();
}

Json taken_json(const SnapshotOptions& options, const Job& job) {
  std::int64_t first = INT64_MAX, last = INT64_MIN;
  for (const Process& process : job.processes) {
    for (const auto& [tid, thread] : process.threads) {
      first = std::min(first, thread.samples.front().at_ns);
      last = std::max(last, thread.samples.back().at_ns);
    }
  }
  const bool any = first <= last;
  return {{"begin_ns", any ? Json(first) : Json()},
          {"window_ns", any ? last - first : 0},
          {"unix_offset_ns", snapshot_detail::unix_offset_ns()},
          {"samples", options.samples},
          {"interval_ms", options.interval_ms},
          {"whole_job", options.job && options.children &&
                            job.processes.size() < snapshot_detail::kMostProcesses}};
}

Json host_json() {
  Json json;
  json["load_average"] = read_proc_file("/proc/loadavg").substr(0, 64);
  json["memory_available"] = status_field(read_proc_file("/proc/meminfo"), "MemAvailable");
  json["processors"] = sysconf(_SC_NPROCESSORS_ONLN);
  return json;
}

Json logs_json(const std::vector<snapshot_detail::LogTail>& logs) {
  Json list = Json::array();
  for (const auto& tail : logs) {
    list.push_back(
        {{"path", tail.path}, {"pid", tail.pid}, {"cut", tail.cut}, {"lines", tail.lines.size()}});
  }
  return list;
}

Json flight_json(const std::vector<snapshot_detail::FlightRecord>& records) {
  Json list = Json::array();
  for (const auto& record : records)
    list.push_back({{"pid", record.pid}, {"from", record.from}, {"file", record.file}});
  return list;
}

Json gaps_json(const Job& job) {
  Json list = Json::array();
  for (const auto& gap : job.gaps) {
    list.push_back({{"part", gap.part},
                    {"pid", gap.pid == 0 ? Json() : Json(gap.pid)},
                    {"reason", gap.reason},
                    {"hint", gap.hint}});
  }
  return list;
}

Contents gather(const SnapshotOptions& options, const std::string& folder, Job& job) {
  Contents contents;
  std::vector<OpenFiles> open;
  for (const Process& process : job.processes) open.push_back(read_open_files(process));
  Json& document = contents.document;
  document["format"] = "teller.snapshot";
  document["version"] = 1;
  document["taken"] = taken_json(options, job);
  document["asked"] = options.pids;
  document["host"] = host_json();
  document["processes"] = Json::array();
  for (std::size_t i = 0; i < open.size(); ++i)
    document["processes"].push_back(process_json(job.processes[i], open[i]));
  document["gpu"] = gpu_json(job);
  document["nccl_ras"] = ras_json(job, open);
  contents.flight_records = copy_flight_records(folder, options.trigger_dump, job);
  document["flight_records"] = flight_json(contents.flight_records);
  if (options.logs) {
    for (std::size_t i = 0; i < open.size(); ++i)
      read_log_tails(job.processes[i], open[i], job, contents.logs);
  }
  document["logs"] = logs_json(contents.logs);
  document["gaps"] = gaps_json(job);
  return contents;
}

// Workers that multiprocessing has made learn their rank after their start.
void add_ranks_set_later(Job& job) {
  for (Process& process : job.processes) {
    const bool known = !variable_in(process.environment, "RANK").empty();
    if (process.readable && !known && !job.deadline.over())
      add_live_environment(process, job.deadline.left_ms(kToolTimeoutMs));
  }
}

Status check(const SnapshotOptions& options) {
  for (const std::int64_t pid : options.pids) {
    if (pid < 1)
      return Error{ErrorCode::kUsage, "snapshot: " + std::to_string(pid) + " is no process id",
                   "give positive numbers"};
  }
  if (options.samples < 2 || options.samples > 100) {
    return Error{ErrorCode::kUsage, "snapshot: --samples must lie between 2 and 100",
                 "one sample cannot tell what is stuck from what is busy"};
  }
  if (options.interval_ms < 1 || options.interval_ms > 60000)
    return Error{ErrorCode::kUsage, "snapshot: --interval must lie between 1 and 60000 ms", ""};
  if (!(options.duration_s > 0 && options.duration_s <= 3600))
    return Error{ErrorCode::kUsage, "snapshot: --duration must lie between 0 and 3600 s", ""};
  return {};
}

}  // namespace

Result<SnapshotResult> take_snapshot(const SnapshotOptions& options) {
  TELLER_CHECK_OK(check(options));
  Job job;
  job.deadline.end = std::chrono::steady_clock::now() +
                     std::chrono::milliseconds(std::llround(options.duration_s * 1000));
  job.deadline.stop = options.stop;
  TELLER_CHECK_OK(find_members(options, job));
  const std::string path = options.output.empty() ? default_output() : options.output;
  TELLER_TRY(RunFolder run, RunFolder::create(path, "snapshot", options.overwrite));
  add_ranks_set_later(job);
  log_info("snapshot: looking at " + std::to_string(job.processes.size()) + " processes");
  collect_samples(options, job);
  const Contents contents = gather(options, path, job);
  TELLER_CHECK_OK(write_snapshot(job, contents, options, run));
  return SnapshotResult{path, std::make_shared<const Json>(contents.document["gaps"])};
}

bool is_snapshot(const RunFolder& run) {
  return run.manifest().value("made_by", Json()) == "snapshot";
}

}  // namespace teller
