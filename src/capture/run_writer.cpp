#include "capture/run_writer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/file.h"

namespace teller::capture {

using Json = nlohmann::ordered_json;

namespace {

// Set aside at the start and given back at the end, so that a full disk still takes the manifest.
constexpr const char* kReserve = "reserve.part";
constexpr off_t kReserveBytes = 256 << 10;

Status reserve_space(const std::string& path) {
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (fd < 0) return errno_error("creating " + path, errno);
  const int error = posix_fallocate(fd, 0, kReserveBytes);
  close(fd);
  if (error == ENOSPC || error == EDQUOT) return errno_error("reserving space in " + path, error);
  return {};
}

Json counters_of(const RunTotals& totals) {
  return {{"trace.events", totals.events},
          {"trace.ranges", totals.ranges},
          {"trace.step_records", totals.step_records},
          {"trace.log_lines", totals.log_lines},
          {"trace.processes", totals.processes},
          {"trace.traced_processes", totals.traced_processes},
          {"trace.events_dropped", totals.dropped},
          {"trace.ranges_dropped", totals.dropped_ranges},
          {"trace.texts_cut", totals.cut},
          {"trace.events_without_ring", totals.without_ring},
          {"trace.definitions_lost", totals.definitions_lost},
          {"trace.device_records_dropped", totals.device_dropped},
          {"trace.device_records_unknown", totals.device_unknown},
          {"trace.device_records_malformed", totals.device_malformed},
          {"trace.rings_corrupt", totals.corrupt},
          {"trace.records_invalid", totals.invalid},
          {"trace.step_records_invalid", totals.bad_step_records},
          {"trace.processes_refused", totals.refused_processes},
          {"trace.log_bytes_lost", totals.log_bytes_unkept},
          {"trace.output_bytes_lost", totals.output_bytes_unforwarded}};
}

}  // namespace

RunWriter::RunWriter(RunFolder run) : run_(std::move(run)) {}

RunWriter::RunWriter(RunWriter&& other) noexcept
    : run_(std::move(other.run_)), log_fd_(std::exchange(other.log_fd_, -1)) {}

RunWriter::~RunWriter() {
  if (log_fd_ >= 0) close(log_fd_);
}

Result<RunWriter> RunWriter::create(RunFolder run) {
  RunWriter writer(std::move(run));
  const std::string events = writer.run_.file("events");
  if (mkdir(events.c_str(), 0777) != 0) return errno_error("creating " + events, errno);
  const std::string logs = writer.run_.file("logs.jsonl");
  writer.log_fd_ = open(logs.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
  if (writer.log_fd_ < 0) return errno_error("creating " + logs, errno);
  TELLER_CHECK_OK(reserve_space(writer.run_.file(kReserve)));
  return writer;
}

std::string RunWriter::next_event_file(std::int64_t pid) {
  char name[64];
  std::snprintf(name, sizeof name, "events/%04llu.%lld.tev",
                static_cast<unsigned long long>(next_file_++), static_cast<long long>(pid));
  pending_event_file_ = name;
  return run_.file(name);
}

void RunWriter::append_log(std::string_view lines) {
  while (!lines.empty() && !stopped()) {
    const ssize_t written = write(log_fd_, lines.data(), lines.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      std::string reason = errno_error("writing " + run_.file("logs.jsonl"), errno).message;
      // What was written of the last line is cut off, so that the file ends with a whole line.
      if (ftruncate(log_fd_, static_cast<off_t>(log_bytes_)) != 0)
        reason += "; it ends in mid-line";
      return stop(reason, true);
    }
    lines.remove_prefix(static_cast<std::size_t>(written));
    if (lines.empty()) log_bytes_ = static_cast<std::uint64_t>(lseek(log_fd_, 0, SEEK_END));
  }
}

void RunWriter::write_processes(const std::string& jsonl) {
  if (stopped() && !failed_) return;
  const Status written = write_file_atomic(run_.file("processes.jsonl"), jsonl);
  if (written) {
    has_processes_ = true;
  } else {
    stop(written.error().message, true);
  }
}

void RunWriter::stop(const std::string& reason, bool failed) {
  if (stopped()) return;
  stop_reason_ = reason;
  failed_ = failed;
}

Status RunWriter::publish(const RunTotals& totals) {
  ArtifactInfo events;
  events.name = "events";
  events.made_by = "trace";
  events.files = event_files_;
  events.records = totals.events;
  TELLER_CHECK_OK(run_.publish(events));
  ArtifactInfo logs;
  logs.name = "logs";
  logs.made_by = "trace";
  logs.files = {"logs.jsonl"};
  logs.records = totals.log_lines;
  TELLER_CHECK_OK(run_.publish(logs));
  if (!has_processes_) return {};
  ArtifactInfo processes;
  processes.name = "processes";
  processes.made_by = "trace";
  processes.files = {"processes.jsonl"};
  processes.records = totals.processes;
  return run_.publish(processes);
}

Status RunWriter::seal(std::string_view state, const RunTotals& totals) {
  unlink(run_.file(kReserve).c_str());
  run_.manifest()["counters"] = counters_of(totals);
  if (stopped()) run_.manifest()["capture_stopped"] = stop_reason_;
  // Digests only of files that will not change any more.
  if (state != "recording") TELLER_CHECK_OK(publish(totals));
  run_.set_state(state);
  return run_.save();
}

}  // namespace teller::capture
