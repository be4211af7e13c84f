#include "capture/run_writer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/file.h"
#include "capture/forwarder.h"

namespace teller::capture {

using Json = nlohmann::ordered_json;

namespace {

// Set aside at the start and given back at the end, so that a full disk still takes the manifest.
constexpr const char* kReserve = "reserve.part";
constexpr off_t kReserveBytes = 256 << 10;
// What may wait for a slow disk.
constexpr std::uint64_t kBacklogBytes = 128u << 20;

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
          {"trace.output_bytes_lost", totals.output_bytes_unforwarded},
          {"trace.context_records", totals.context.records},
          {"trace.context_records_lost", totals.context.records_lost},
          {"trace.scrapes", totals.context.scrapes},
          {"trace.scrapes_failed", totals.context.scrapes_failed},
          {"trace.context_threads_failed", totals.context.threads_failed}};
}

Json redaction_of(const RunTotals& totals) {
  Json counts = Json::object();
  for (std::size_t i = 0; i < kSecretKinds; ++i) {
    const auto kind = static_cast<SecretKind>(i);
    if (totals.redacted.of(kind) > 0) counts[secret_kind_name(kind)] = totals.redacted.of(kind);
  }
  return counts;
}

}  // namespace

RunWriter::RunWriter(RunFolder run) : run_(std::move(run)) {}

RunWriter::RunWriter(RunWriter&& other) noexcept
    : run_(std::move(other.run_)), logs_(other.logs_), context_(other.context_) {
  other.logs_.fd = other.context_.fd = -1;
}

RunWriter::~RunWriter() {
  background_.reset();
  if (logs_.fd >= 0) close(logs_.fd);
  if (context_.fd >= 0) close(context_.fd);
}

Result<RunWriter> RunWriter::create(RunFolder run) {
  RunWriter writer(std::move(run));
  const std::string events = writer.run_.file("events");
  if (mkdir(events.c_str(), 0777) != 0) return errno_error("creating " + events, errno);
  TELLER_CHECK_OK(writer.open_lines(writer.logs_));
  TELLER_CHECK_OK(reserve_space(writer.run_.file(kReserve)));
  return writer;
}

void RunWriter::write_in_background() {
  background_ = std::make_unique<BackgroundWriter>(kBacklogBytes);
}

Status RunWriter::background_status() const {
  return background_ == nullptr ? Status() : background_->status();
}

std::string RunWriter::next_event_file(std::int64_t pid) {
  char name[64];
  std::snprintf(name, sizeof name, "events/%04llu.%lld.tev",
                static_cast<unsigned long long>(next_file_++), static_cast<long long>(pid));
  pending_event_file_ = name;
  return run_.file(name);
}

Status RunWriter::open_lines(LineFile& file) {
  const std::string path = run_.file(file.name);
  file.fd = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
  return file.fd < 0 ? Status(errno_error("creating " + path, errno)) : Status();
}

void RunWriter::append(LineFile& file, std::string_view lines) {
  if (lines.empty() || stopped()) return;
  if (file.window != nullptr) return file.window->add(monotonic_ns(), lines);
  if (file.fd < 0) {
    if (const Status opened = open_lines(file); !opened) {
      return stop(opened.error().message, true);
    }
  }
  if (background_ != nullptr) {
    background_->append(file.fd, run_.file(file.name), std::string(lines));
    file.bytes += lines.size();
    return;
  }
  while (!lines.empty() && !stopped()) {
    const ssize_t written = write(file.fd, lines.data(), lines.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      std::string reason = errno_error("writing " + run_.file(file.name), errno).message;
      // What was written of the last line is cut off, so that the file ends with a whole line.
      if (ftruncate(file.fd, static_cast<off_t>(file.bytes)) != 0)
        reason += "; it ends in mid-line";
      return stop(reason, true);
    }
    lines.remove_prefix(static_cast<std::size_t>(written));
    if (lines.empty()) file.bytes = static_cast<std::uint64_t>(lseek(file.fd, 0, SEEK_END));
  }
}

void RunWriter::append_log(std::string_view lines) {
  append(logs_, lines);
}

void RunWriter::append_context(std::string_view lines) {
  append(context_, lines);
}

void RunWriter::write_processes(const std::string& jsonl) {
  if (stopped() && !failed_) return;
  if (background_ != nullptr && !stopped()) {
    background_->replace(run_.file("processes.jsonl"), jsonl);
    has_processes_ = true;
    return;
  }
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
  if (context_.fd >= 0) {
    ArtifactInfo context;
    context.name = "context";
    context.made_by = "trace";
    context.files = {context_.name};
    context.records = totals.context.records;
    TELLER_CHECK_OK(run_.publish(context));
  }
  if (!has_processes_) return {};
  ArtifactInfo processes;
  processes.name = "processes";
  processes.made_by = "trace";
  processes.files = {"processes.jsonl"};
  processes.records = totals.processes;
  return run_.publish(processes);
}

void RunWriter::finish_background() {
  background_->drain();
  if (const Status all = background_->status(); !all && !stopped()) {
    stop(all.error().message, true);
    run_.manifest()["capture_stopped"] = stop_reason_;
  }
  for (const int file : {logs_.fd, context_.fd, BackgroundWriter::kReplaced}) {
    const Status written = background_->finish(file);
    if (written || stopped()) continue;
    stop(written.error().message, true);
    run_.manifest()["capture_stopped"] = stop_reason_;
  }
}

Status RunWriter::seal(std::string_view state, const RunTotals& totals) {
  unlink(run_.file(kReserve).c_str());
  run_.manifest()["counters"] = counters_of(totals);
  run_.manifest()["redaction"]["counts"] = redaction_of(totals);
  if (stopped()) run_.manifest()["capture_stopped"] = stop_reason_;
  if (background_ != nullptr && state != "recording") finish_background();
  // Digests only of files that will not change any more.
  if (state != "recording") TELLER_CHECK_OK(publish(totals));
  run_.set_state(state);
  return run_.save();
}

}  // namespace teller::capture
