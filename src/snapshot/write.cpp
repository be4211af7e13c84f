#include "snapshot/write.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/utf8.h"
#include "snapshot/write_events.h"

namespace teller::snapshot_detail {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kMaker = "snapshot";

std::string line_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Status publish_events(const Job& job, RunFolder& run) {
  ArtifactInfo info;
  info.name = "events";
  info.made_by = kMaker;
  if (mkdir(run.file("events").c_str(), 0777) != 0)
    return errno_error("creating " + run.file("events"), errno);
  for (const Process& process : job.processes) {
    if (process.threads.empty()) continue;
    std::array<char, 64> name{};
    std::snprintf(name.data(), name.size(), "events/%04zu.%lld.tev", info.files.size(),
                  static_cast<long long>(process.pid));
    TELLER_TRY(const std::uint64_t records, write_events(process, run.file(name.data())));
    info.records += records;
    info.files.emplace_back(name.data());
  }
  return run.publish(info);
}

Status publish_logs(const std::vector<LogTail>& logs, RunFolder& run) {
  ArtifactInfo info;
  info.name = "logs";
  info.made_by = kMaker;
  info.files = {"logs.jsonl"};
  std::string text;
  for (const LogTail& tail : logs) {
    for (const std::string& line : tail.lines) {
      std::string valid;
      append_valid_utf8(line, valid);
      Json json = {{"t", nullptr}, {"stream", tail.path}, {"pid", tail.pid}, {"text", valid}};
      if (valid != line) json["raw"] = 1;
      text += line_of(json);
      ++info.records;
    }
  }
  TELLER_CHECK_OK(write_file_atomic(run.file("logs.jsonl"), text));
  return run.publish(info);
}

Status publish_processes(const Job& job, RunFolder& run) {
  ArtifactInfo info;
  info.name = "processes";
  info.made_by = kMaker;
  info.files = {"processes.jsonl"};
  info.records = job.processes.size();
  std::string text;
  for (const Process& process : job.processes) {
    const bool zombie = process.state == 'Z';
    const int status = process.exit_code;
    Json json;
    json["pid"] = process.pid;
    json["ppid"] = process.ppid;
    json["start"] = process.start_ns;
    json["end"] = nullptr;
    json["exit"] = zombie && WIFEXITED(status) ? Json(WEXITSTATUS(status)) : Json();
    json["signal"] = zombie && WIFSIGNALED(status) ? Json(WTERMSIG(status)) : Json();
    json["argv"] = process.argv;
    json["comm"] = process.comm;
    json["library"] = false;
    text += line_of(json);
  }
  TELLER_CHECK_OK(write_file_atomic(run.file("processes.jsonl"), text));
  return run.publish(info);
}

Status publish_document(const Contents& contents, const SnapshotOptions& options, RunFolder& run) {
  ArtifactInfo info;
  info.name = "snapshot";
  info.made_by = kMaker;
  info.files = {kSnapshotFile};
  info.records = contents.document["processes"].size();
  for (const FlightRecord& record : contents.flight_records) info.files.push_back(record.file);
  info.options_json = Json({{"samples", options.samples},
                            {"interval_ms", options.interval_ms},
                            {"children", options.children},
                            {"job", options.job},
                            {"pause", options.pause},
                            {"logs", options.logs}})
                          .dump();
  TELLER_CHECK_OK(write_file_atomic(
      run.file(kSnapshotFile),
      contents.document.dump(1, ' ', true, Json::error_handler_t::replace) + "\n"));
  return run.publish(info);
}

}  // namespace

Status write_snapshot(const Job& job, const Contents& contents, const SnapshotOptions& options,
                      RunFolder& run) {
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  run.manifest()["host"] = {{"name", host.data()}};
  run.manifest()["clock"] = {{"base", "CLOCK_MONOTONIC"}, {"unix_offset_ns", unix_offset_ns()}};
  TELLER_CHECK_OK(publish_events(job, run));
  TELLER_CHECK_OK(publish_logs(contents.logs, run));
  TELLER_CHECK_OK(publish_processes(job, run));
  TELLER_CHECK_OK(publish_document(contents, options, run));
  run.set_state("sealed");
  return run.save();
}

}  // namespace teller::snapshot_detail
