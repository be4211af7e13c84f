#include "capture/flight_recorder.h"

#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "capture/forwarder.h"

namespace teller::capture {

using Json = nlohmann::ordered_json;

namespace {

// How long the end waits for a window that is still being written: its disk may have stalled.
constexpr int kDumpLimitMs = 10000;

volatile sig_atomic_t g_signalled = 0;

void on_signal(int) {
  g_signalled = 1;
}

void trigger_on_signal() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigaction(SIGUSR2, &action, nullptr);
}

std::int64_t to_ns(double seconds) {
  return static_cast<std::int64_t>(seconds * 1e9);
}

}  // namespace

Result<std::unique_ptr<FlightRecorder>> FlightRecorder::create(const CaptureOptions& options,
                                                               const std::string& socket_folder,
                                                               RunWriter& writer,
                                                               TracedProcesses& traced,
                                                               ProcessTable& table) {
  TELLER_TRY(LogWindow logs, LogWindow::create(options.trigger_log));
  TELLER_TRY(LogWindow context, LogWindow::create({}));
  TELLER_TRY(ControlSocket control, ControlSocket::listen_at(socket_folder + "/control"));
  return std::unique_ptr<FlightRecorder>(new FlightRecorder(
      options, writer, traced, table, std::move(logs), std::move(context), std::move(control)));
}

FlightRecorder::FlightRecorder(const CaptureOptions& options, RunWriter& writer,
                               TracedProcesses& traced, ProcessTable& table, LogWindow logs,
                               LogWindow context, ControlSocket control)
    : options_(options),
      writer_(writer),
      traced_(traced),
      table_(table),
      logs_(std::move(logs)),
      context_(std::move(context)),
      control_(std::move(control)),
      triggers_(to_ns(options.last_s), to_ns(options.after_s)),
      path_(std::filesystem::absolute(writer.path()).lexically_normal().string()),
      dumps_(path_ + "/triggers", std::max<std::size_t>(options.keep, 1)),
      window_ns_(to_ns(options.last_s)) {
  traced_.keep_windows(options.trigger_slow_step);
  writer_.keep_lines_in(&logs_, &context_);
  writer_.manifest()["trace"]["control"] = control_.path();
  writer_.manifest()["triggers"] = Json::array();
  trigger_on_signal();
}

// The oldest goes first, whosever it is. Names and open ranges are not counted: they cannot go.
bool FlightRecorder::forget_oldest() {
  const std::int64_t logs = logs_.oldest_ns();
  const std::int64_t context = context_.oldest_ns();
  const std::int64_t records = traced_.oldest_ns();
  if (records <= logs && records <= context) return traced_.forget_oldest();
  return logs <= context ? logs_.forget_oldest() : context_.forget_oldest();
}

void FlightRecorder::forget(std::int64_t now_ns) {
  traced_.forget_before(now_ns - window_ns_);
  logs_.forget_before(now_ns - window_ns_);
  context_.forget_before(now_ns - window_ns_);
  bool short_of_memory = false;
  while (traced_.window_bytes() + logs_.bytes() + context_.bytes() > options_.window_bytes) {
    if (!forget_oldest()) break;
    short_of_memory = true;
  }
  if (short_of_memory) ++cut_short_;
}

void FlightRecorder::take_requests(std::int64_t now_ns) {
  for (const ControlRequest& request : control_.take()) {
    const Json json = Json::parse(request.text, nullptr, false);
    const bool asks = json.is_object() && json.contains("trigger") && json["trigger"].is_string();
    if (!asks) {
      answer(request.connection, R"({"error":"the recorder does not know this request"})");
      continue;
    }
    triggers_.fire(TriggerKind::kCommand, json["trigger"].get<std::string>(), now_ns,
                   request.connection);
  }
}

void FlightRecorder::look_for_triggers(std::int64_t now_ns) {
  take_requests(now_ns);
  if (g_signalled != 0) {
    g_signalled = 0;
    triggers_.fire(TriggerKind::kSignal, "SIGUSR2", now_ns);
  }
  const std::string line = logs_.take_match();
  if (!line.empty()) triggers_.fire(TriggerKind::kLog, line, now_ns);
  const std::string step = traced_.take_slow_step(now_ns);
  if (!step.empty()) triggers_.fire(TriggerKind::kSlowStep, step, now_ns);
}

void FlightRecorder::note_written(const WindowDumps::Written& written) {
  Json& list = writer_.manifest()["triggers"];
  if (written.error.empty()) {
    list.push_back({{"run", "triggers/" + written.name},
                    {"kind", name_of(written.trigger.kind)},
                    {"detail", written.trigger.detail},
                    {"time", written.trigger.time_ns}});
  } else {
    failures_.push_back("trigger (" + std::string(name_of(written.trigger.kind)) +
                        "): the window could not be written: " + written.error);
  }
  // Those that made room for it are not there any more.
  Json kept = Json::array();
  for (const Json& entry : list) {
    const std::string name = entry["run"].get<std::string>().substr(sizeof "triggers/" - 1);
    const auto& names = dumps_.names();
    if (std::find(names.begin(), names.end(), name) != names.end()) kept.push_back(entry);
  }
  list = std::move(kept);
  if (const Status saved = writer_.save(); !saved) failures_.push_back(saved.error().message);
}

void FlightRecorder::write_due(std::int64_t now_ns) {
  WindowDumps::Written written;
  if (dumps_.take_written(&written)) note_written(written);
  Trigger trigger;
  if (dumps_.busy() || !triggers_.take_due(now_ns, &trigger)) return;
  const Trigger copy = trigger;
  dumps_.start(std::move(trigger), [this, &copy, now_ns](const std::string& path) {
    return write_run(path, copy, now_ns);
  });
}

void FlightRecorder::step(std::int64_t now_ns) {
  forget(now_ns);
  look_for_triggers(now_ns);
  write_due(now_ns);
}

Json FlightRecorder::window_json(std::int64_t now_ns) const {
  const std::int64_t oldest = std::min(traced_.oldest_ns(), logs_.oldest_ns());
  return {{"seconds", options_.last_s},
          {"begin", oldest == RecordWindow::kNever ? now_ns : oldest},
          {"end", now_ns},
          {"forgotten_records", traced_.records_forgotten()},
          {"cut_short_by_memory", cut_short_}};
}

// In a child: what it changes here is lost with it.
Status FlightRecorder::write_run(const std::string& path, const Trigger& trigger,
                                 std::int64_t now_ns) {
  TELLER_TRY(RunFolder run, RunFolder::create(path, "trace", false));
  for (const char* key : {"target", "clock", "host", "trace", "redaction"}) {
    if (writer_.manifest().contains(key)) run.manifest()[key] = writer_.manifest()[key];
  }
  run.manifest()["trace"].erase("control");
  run.manifest()["trigger"] = {
      {"kind", name_of(trigger.kind)}, {"detail", trigger.detail}, {"time", trigger.time_ns}};
  run.manifest()["window"] = window_json(now_ns);
  TELLER_TRY(RunWriter writer, RunWriter::create(std::move(run)));
  RunTotals totals;
  TELLER_CHECK_OK(traced_.write_windows(writer, &totals));
  writer.append_log(logs_.text());
  writer.append_context(context_.text());
  RedactCounts redacted;
  writer.write_processes(table_.to_jsonl(redacted));
  if (writer.stopped()) return Error{ErrorCode::kIo, writer.stop_reason(), ""};
  totals.log_lines = logs_.lines();
  totals.context.records = context_.lines();
  totals.processes = table_.size();
  return writer.seal("sealed", totals);
}

Status FlightRecorder::finish(std::int64_t now_ns) {
  if (std::exchange(finished_, true)) return {};
  WindowDumps::Written written;
  if (dumps_.busy() && dumps_.wait_written(kDumpLimitMs, &written)) note_written(written);
  writer_.manifest()["window"] = window_json(now_ns);
  writer_.keep_lines_in(nullptr, nullptr);
  Status status = traced_.write_last_windows();
  writer_.append_log(logs_.text());
  writer_.append_context(context_.text());
  if (status && writer_.stopped()) status = Error{ErrorCode::kIo, writer_.stop_reason(), ""};
  close(status);
  return status;
}

// Those who wait get the run itself, whose window is the last one, or the reason why it is not
// there.
void FlightRecorder::close(const Status& status) {
  Json line = {{"run", path_}};
  if (!status) line = {{"error", status.error().message}};
  const std::string text = line.dump(-1, ' ', false, Json::error_handler_t::replace);
  for (const Trigger& trigger : triggers_.take_all()) {
    for (const int connection : trigger.connections) answer(connection, text);
  }
  control_ = ControlSocket();
  traced_.drop_windows();
  writer_.manifest()["trace"].erase("control");
  if (const Status saved = writer_.save(); !saved) failures_.push_back(saved.error().message);
}

void FlightRecorder::stop(const std::string& reason) {
  if (!std::exchange(finished_, true)) close(Error{ErrorCode::kIo, reason, ""});
}

void FlightRecorder::add_counts(RunTotals* totals) const {
  totals->log_lines = logs_.lines();
  totals->context.records = context_.lines();
}

std::vector<std::string> FlightRecorder::summary() const {
  std::vector<std::string> lines = failures_;
  if (!dumps_.names().empty()) {
    std::string line = std::to_string(dumps_.names().size()) + " triggered window" +
                       (dumps_.names().size() == 1 ? "" : "s") + " in " + writer_.path() +
                       "/triggers:";
    for (const std::string& name : dumps_.names()) line += " " + name;
    lines.push_back(line);
  }
  if (triggers_.left_out() > 0) {
    lines.push_back(std::to_string(triggers_.left_out()) +
                    " triggers left out: another had written the window shortly before");
  }
  if (cut_short_ > 0) {
    lines.push_back("the window was shorter than asked at times: --window-memory was reached");
  }
  return lines;
}

}  // namespace teller::capture
