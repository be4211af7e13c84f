#include "capture/recorder.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "capture/flight_recorder.h"
#include "capture/log_collector.h"
#include "capture/process_table.h"
#include "capture/run_writer.h"
#include "capture/summary.h"
#include "capture/traced_processes.h"
#include "context/context.h"

namespace teller::capture {

using Json = nlohmann::ordered_json;

namespace {

// How long to wait until the next round, by how much was found in the fullest ring. Every round
// takes a tenth of a millisecond of a processor that the program could have.
constexpr int kBusyTickMs = 1;
constexpr int kIdleTickMs = 10;
constexpr int kQuietTickMs = 30;
constexpr std::uint64_t kBusyBytes = ring::kRingDataBytes / 8;
constexpr std::uint64_t kQuietBytes = ring::kRingDataBytes / 32;
constexpr std::int64_t kMillisecond = 1000000;
// How often /proc is looked at: often while processes come and go, and seldom otherwise, as each
// look costs half a millisecond.
constexpr std::int64_t kSamplePeriodNs = 50 * kMillisecond;
constexpr std::int64_t kQuietSamplePeriodNs = 250 * kMillisecond;
constexpr std::int64_t kQuietAfterNs = 5000 * kMillisecond;
// How often the sampler is told which processes there are.
constexpr std::int64_t kContextPeriodNs = 100 * kMillisecond;
constexpr std::int64_t kFlushPeriodNs = kFlushPeriodMs * kMillisecond;
// How long the launcher waits for output that a slow reader has not taken yet.
constexpr std::int64_t kDrainLimitNs = 2000 * kMillisecond;

class Recorder {
 public:
  Recorder(const CaptureOptions& options, RecorderSetup setup, RunWriter writer, Redactor redactor)
      : options_(options),
        setup_(std::move(setup)),
        writer_(std::move(writer)),
        redactor_(std::move(redactor)),
        table_(setup_.socket_path, &redactor_),
        traced_(writer_, table_),
        logs_(setup_.channels, options.log_files, &redactor_),
        begin_ns_(monotonic_ns()) {}

  // Before run(): with --last, sets up what keeps the newest window.
  Status prepare();
  void run();

 private:
  void wait(int timeout_ms) const;
  void handle_messages();
  void on_started(std::int64_t pid);
  void on_exited(int wait_status);
  void on_resized() const;
  void tell_ended_channels();
  void watch_without_launcher(std::int64_t now);
  int step(std::int64_t now);
  void sample_and_flush(std::int64_t now);
  void flush();
  void start_context();
  void collect_context(std::int64_t now);
  void check_limits(std::int64_t now);
  // Ends the capture if `status` is an error.
  void check(const Status& status);
  void stop_at_limit(const std::string& reason);
  void stop_capture(const std::string& reason, bool failed);
  bool done(std::int64_t now);
  RunTotals totals() const;
  void report(bool going_on);
  void end();

  const CaptureOptions& options_;
  RecorderSetup setup_;
  RunWriter writer_;
  Redactor redactor_;
  RedactCounts redacted_arguments_;
  ProcessTable table_;
  TracedProcesses traced_;
  LogCollector logs_;
  std::unique_ptr<FlightRecorder> flight_;  // with --last
  std::unique_ptr<Context> context_;
  std::int64_t next_context_ns_ = 0;
  std::int64_t begin_ns_;
  std::int64_t target_pid_ = 0;
  int target_pidfd_ = -1;
  bool target_exited_ = false;
  int wait_status_ = 0;
  std::int64_t exit_ns_ = 0;
  bool reported_ = false;
  std::int64_t next_sample_ns_ = 0;
  std::size_t processes_seen_ = 0;
  std::int64_t quiet_since_ns_ = 0;
  std::int64_t next_flush_ns_ = 0;
};

Status Recorder::prepare() {
  writer_.manifest()["trace"]["recorder"] = getpid();
  if (options_.last_s > 0) {
    const std::string folder = setup_.socket_path.substr(0, setup_.socket_path.rfind('/'));
    TELLER_TRY(flight_, FlightRecorder::create(options_, folder, writer_, traced_, table_));
  } else {
    writer_.write_in_background();
  }
  return writer_.save();
}

void Recorder::wait(int timeout_ms) const {
  // Descriptors of -1 are ignored by poll().
  const int commands = flight_ != nullptr ? flight_->listener() : -1;
  pollfd watched[3] = {
      {setup_.listener, POLLIN, 0}, {setup_.control, POLLIN, 0}, {commands, POLLIN, 0}};
  poll(watched, 3, timeout_ms);
}

void Recorder::handle_messages() {
  Message message;
  std::string text;
  while (setup_.control >= 0) {
    if (!receive_message(setup_.control, &message, &text, false)) {
      if (errno == EAGAIN) return;
      close(setup_.control);  // the launcher is gone; the program may go on
      setup_.control = -1;
      return;
    }
    if (message.kind == Message::kStarted) on_started(message.pid);
    if (message.kind == Message::kExited) on_exited(message.wait_status);
    if (message.kind == Message::kResized) on_resized();
  }
}

void Recorder::on_started(std::int64_t pid) {
  target_pid_ = pid;
  target_pidfd_ = static_cast<int>(syscall(SYS_pidfd_open, static_cast<pid_t>(pid), 0));
  table_.add_root(pid, options_.argv);
  logs_.set_pid(pid);
  writer_.manifest()["target"]["pid"] = pid;
  start_context();
}

void Recorder::start_context() {
  if (!options_.context) return;
  ContextOptions wanted;
  wanted.find_engines = options_.find_metrics;
  wanted.all_series = options_.all_metrics;
  wanted.urls = options_.metrics_urls;
  context_ = std::make_unique<Context>(std::move(wanted));
}

void Recorder::collect_context(std::int64_t now) {
  if (!context_ || writer_.stopped()) return;
  if (now >= next_context_ns_) {
    std::vector<ContextProcess> processes;
    for (ProcessInfo& process : table_.living()) {
      processes.push_back({process.pid, std::move(process.argv)});
    }
    context_->set_processes(std::move(processes));
    next_context_ns_ = now + kContextPeriodNs;
  }
  writer_.append_context(context_->take_lines());
}

void Recorder::on_exited(int wait_status) {
  target_exited_ = true;
  exit_ns_ = monotonic_ns();
  wait_status_ = wait_status;
  table_.set_ended(target_pid_, wait_status);
  Json& target = writer_.manifest()["target"];
  target["exit_code"] = WIFEXITED(wait_status) ? Json(WEXITSTATUS(wait_status)) : Json();
  target["signal"] = WIFSIGNALED(wait_status) ? Json(WTERMSIG(wait_status)) : Json();
  target["end"] = exit_ns_;
}

void Recorder::on_resized() const {
  logs_.resize();
  // The program had its SIGWINCH before its terminal had the new size.
  if (target_pid_ > 0 && !target_exited_) kill(static_cast<pid_t>(target_pid_), SIGWINCH);
}

void Recorder::tell_ended_channels() {
  for (const std::size_t index : logs_.take_ended()) {
    send_message(setup_.control, {Message::kChannelEnded, static_cast<int>(index), 0});
  }
}

void Recorder::check(const Status& status) {
  if (!status) stop_capture(status.error().message, true);
}

// The program goes on, and so does its output; nothing more is kept.
void Recorder::stop_capture(const std::string& reason, bool failed) {
  if (writer_.stopped()) return;
  writer_.stop(reason, failed);
  if (flight_ != nullptr) flight_->stop(reason);
  traced_.stop();
  logs_.stop_keeping();
  if (context_) context_->stop();
}

// No error: what is in hand is closed properly.
void Recorder::stop_at_limit(const std::string& reason) {
  logs_.collect(writer_);
  check(flight_ != nullptr ? flight_->finish(monotonic_ns()) : traced_.close_files());
  stop_capture(reason, false);
}

// With --last nothing is written before the end: a disk that is full for a while costs nothing.
void Recorder::flush() {
  if (writer_.stopped() || flight_ != nullptr) return;
  check(traced_.flush());
  if (table_.take_changed()) writer_.write_processes(table_.to_jsonl(redacted_arguments_));
}

void Recorder::sample_and_flush(std::int64_t now) {
  if (now >= next_sample_ns_) {
    if (target_pid_ != 0) table_.sample();
    if (table_.size() + table_.alive() != processes_seen_) quiet_since_ns_ = now;
    processes_seen_ = table_.size() + table_.alive();
    const bool quiet = now - quiet_since_ns_ > kQuietAfterNs;
    next_sample_ns_ = now + (quiet ? kQuietSamplePeriodNs : kSamplePeriodNs);
  }
  if (now < next_flush_ns_) return;
  flush();
  next_flush_ns_ = now + kFlushPeriodNs;
}

void Recorder::check_limits(std::int64_t now) {
  if (writer_.stopped()) return;
  if (options_.duration_s > 0 && static_cast<double>(now - begin_ns_) > options_.duration_s * 1e9) {
    return stop_at_limit("the time of --duration has passed");
  }
  if (options_.max_bytes == 0 || flight_ != nullptr) return;
  if (traced_.bytes_written() + writer_.log_bytes() + writer_.context_bytes() >=
      options_.max_bytes) {
    stop_at_limit("the size of --max-size is reached");
  }
}

// Without a launcher nobody tells that the program has ended, or how.
void Recorder::watch_without_launcher(std::int64_t now) {
  if (setup_.control >= 0 || target_exited_) return;
  target_exited_ = target_pid_ == 0 || has_ended(target_pidfd_, target_pid_);
  exit_ns_ = now;
}

RunTotals Recorder::totals() const {
  RunTotals totals;
  traced_.add_counts(&totals);
  logs_.add_counts(&totals);
  totals.redacted.add(redacted_arguments_);
  if (context_) totals.context = context_->counts();
  if (flight_ != nullptr) flight_->add_counts(&totals);
  totals.processes = table_.size();
  return totals;
}

// Tells the launcher what to print; it ends then.
void Recorder::report(bool going_on) {
  RunEnd end;
  end.run = options_.output;
  end.wait_status = wait_status_;
  end.still_running = going_on ? std::max<std::size_t>(table_.alive(), 1) : 0;
  end.recorder = going_on ? getpid() : 0;
  end.stop_reason = writer_.stop_reason();
  const RunTotals counted = totals();
  if (!options_.log_files.empty()) writer_.manifest()["logs_followed"] = logs_.describe_files();
  const Status sealed = writer_.seal(going_on ? "recording" : "sealed", counted);
  if (!sealed) end.manifest_error = sealed.error().message;
  if (reported_ || setup_.control < 0) return;
  reported_ = true;
  std::string text;
  std::vector<std::string> lines = summary_lines(end, counted);
  if (flight_ != nullptr) {
    const std::vector<std::string> more = flight_->summary();
    lines.insert(lines.end() - 1, more.begin(), more.end());
  }
  for (const std::string& line : lines) text += "teller: " + line + "\n";
  send_message(setup_.control, {Message::kDone, 0, 0}, text);
}

// Whether everything that belongs to the run has ended. If only the program has, the launcher may
// end.
bool Recorder::done(std::int64_t now) {
  if (!target_exited_) return false;
  logs_.hurry();
  check(traced_.accept(setup_.listener));
  if (logs_.ended() && traced_.empty()) return true;
  const bool drained = now - exit_ns_ > kDrainLimitNs || logs_.drained(exit_ns_);
  if (!reported_ && setup_.control >= 0 && drained) {
    table_.sample();
    logs_.collect(writer_);
    flush();
    report(true);
  }
  return false;
}

// One round; returns how long to wait until the next.
int Recorder::step(std::int64_t now) {
  handle_messages();
  check(traced_.accept(setup_.listener));
  std::uint64_t fullest = 0;
  check(writer_.background_status());
  if (!writer_.stopped() && !writer_.backlogged()) check(traced_.drain(&fullest));
  check(traced_.finish_ended(false));
  logs_.collect(writer_);
  if (flight_ != nullptr && !writer_.stopped()) flight_->step(now);
  sample_and_flush(now);
  collect_context(now);
  check_limits(now);
  tell_ended_channels();
  watch_without_launcher(now);
  // What is not drained fills up meanwhile.
  if (fullest > kBusyBytes || (!writer_.stopped() && writer_.backlogged())) return kBusyTickMs;
  return fullest > kQuietBytes || target_exited_ ? kIdleTickMs : kQuietTickMs;
}

void Recorder::end() {
  check(traced_.finish_ended(true));
  logs_.collect(writer_);
  logs_.finish(writer_);
  if (context_) context_->finish();
  collect_context(monotonic_ns());
  table_.sample();
  if (flight_ != nullptr && !writer_.stopped()) check(flight_->finish(monotonic_ns()));
  if (table_.take_changed()) writer_.write_processes(table_.to_jsonl(redacted_arguments_));
  report(false);
}

void Recorder::run() {
  send_message(setup_.control, {Message::kReady, 0, 0});
  int tick = kIdleTickMs;
  std::int64_t now = 0;
  do {
    wait(tick);
    now = monotonic_ns();
    tick = step(now);
  } while (!done(now));
  end();
}

// Nothing that was meant for the program may stop the recorder, and it holds none of the program's
// descriptors.
void detach(const RecorderSetup& setup) {
  setsid();
  prctl(PR_SET_NAME, "teller-recorder");
  // SIGTERM too: who stops a service or a job sends it to all its processes, and what the program
  // does then is still to be recorded.
  for (const int number : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGUSR1, SIGUSR2, SIGALRM,
                           SIGTSTP, SIGTTIN, SIGTTOU, SIGXFSZ}) {
    signal(number, SIG_IGN);
  }
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
  }
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int fd = 0; fd <= 2 && null >= 0; ++fd) dup2(null, fd);
  std::vector<int> ours{setup.listener, setup.control};
  for (const Channel& channel : setup.channels) {
    ours.insert(ours.end(), {channel.our_end, channel.destination});
  }
  close_inherited(ours);
}

void remove_socket(const std::string& path) {
  unlink(path.c_str());
  rmdir(path.substr(0, path.rfind('/')).c_str());
}

}  // namespace

void run_recorder(const CaptureOptions& options, RecorderSetup setup, RunFolder run) {
  detach(setup);
  const int control = setup.control;
  const std::string socket_path = setup.socket_path;
  auto writer = RunWriter::create(std::move(run));
  auto redactor = Redactor::create({options.redact, options.redact_patterns});
  if (!writer || !redactor) {
    const Error& error = writer ? redactor.error() : writer.error();
    send_message(control, {Message::kFailed, 0, 0}, error.message);
  } else {
    Recorder recorder(options, std::move(setup), std::move(*writer), std::move(*redactor));
    if (const Status prepared = recorder.prepare(); prepared) {
      recorder.run();
    } else {
      send_message(control, {Message::kFailed, 0, 0}, prepared.error().message);
    }
  }
  remove_socket(socket_path);
  _exit(0);
}

}  // namespace teller::capture
