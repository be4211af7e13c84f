#include "capture/recorder.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/file.h"
#include "capture/arena_reader.h"
#include "capture/event_converter.h"
#include "capture/forwarder.h"
#include "capture/log_follower.h"
#include "capture/log_lines.h"
#include "capture/process_table.h"
#include "capture/run_writer.h"
#include "capture/summary.h"

namespace teller::capture {

using Json = nlohmann::ordered_json;

namespace {

constexpr int kIdleTickMs = 10;
constexpr int kBusyTickMs = 1;
constexpr std::uint64_t kBusyBytes = ring::kRingDataBytes / 8;
constexpr std::int64_t kMillisecond = 1000000;
constexpr std::int64_t kSamplePeriodNs = 50 * kMillisecond;
constexpr std::int64_t kFlushPeriodNs = kFlushPeriodMs * kMillisecond;
// How long the launcher waits for output that a slow reader has not taken yet.
constexpr std::int64_t kDrainLimitNs = 2000 * kMillisecond;

// One process that announced itself.
struct Traced {
  std::int64_t pid = 0;
  int pidfd = -1;
  std::unique_ptr<ArenaReader> arena;
  std::unique_ptr<EventConverter> converter;
};

struct Output {
  std::unique_ptr<Forwarder> forwarder;
  LogLines lines;
  bool told = false;  // the launcher knows that it has ended
};

struct Followed {
  LogFollower file;
  LogLines lines;
};

class Recorder {
 public:
  Recorder(const CaptureOptions& options, RecorderSetup setup, RunWriter writer)
      : options_(options),
        setup_(std::move(setup)),
        writer_(std::move(writer)),
        table_(setup_.socket_path),
        begin_ns_(monotonic_ns()) {}

  void run();

 private:
  void start_outputs();
  void wait(int timeout_ms);
  void handle_messages();
  void on_started(std::int64_t pid);
  void on_exited(int wait_status);
  void on_resized();
  void tell_ended_channels();
  void accept_processes();
  void take_over(int arena_fd, const ring::Hello& hello, std::int64_t pid);
  void open_converter(Traced& traced, const ring::Hello& hello);
  std::uint64_t drain_all();
  void finish_ended(bool all);
  void finish(Traced& traced);
  void collect_logs();
  void write_lines(LogLines& lines, std::int64_t time_ns, std::string_view bytes);
  void sample_and_flush(std::int64_t now);
  void check_limits(std::int64_t now);
  void stop_capture(const std::string& reason, bool failed);
  bool outputs_ended() const;
  bool outputs_drained(std::int64_t now) const;
  void report(bool going_on);
  void flush_all();
  void add_counts(const EventConverter& converter, const ArenaReader* arena, RunTotals* totals);
  RunTotals totals();
  void end();

  const CaptureOptions& options_;
  RecorderSetup setup_;
  RunWriter writer_;
  ProcessTable table_;
  std::vector<Output> outputs_;
  std::vector<Followed> followed_;
  std::vector<Traced> traced_;
  RunTotals finished_;  // of processes whose files are closed
  std::int64_t begin_ns_;
  std::int64_t target_pid_ = 0;
  int target_pidfd_ = -1;
  bool target_exited_ = false;
  int wait_status_ = 0;
  std::int64_t exit_ns_ = 0;
  bool reported_ = false;
  std::int64_t next_sample_ns_ = 0;
  std::int64_t next_flush_ns_ = 0;
  std::uint64_t finished_bytes_ = 0;
};

void Recorder::start_outputs() {
  for (const Channel& channel : setup_.channels) {
    outputs_.push_back({std::make_unique<Forwarder>(channel), LogLines(channel.stream, 0), false});
  }
  for (const std::string& path : options_.log_files) {
    followed_.push_back({LogFollower(path), LogLines(path, 0)});
  }
}

void Recorder::wait(int timeout_ms) {
  std::vector<pollfd> watched{{setup_.listener, POLLIN, 0}};
  if (setup_.control >= 0) watched.push_back({setup_.control, POLLIN, 0});
  poll(watched.data(), watched.size(), timeout_ms);
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
  for (Output& output : outputs_) output.lines.set_pid(pid);
  for (Followed& followed : followed_) followed.lines.set_pid(pid);
  writer_.manifest()["target"]["pid"] = pid;
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

void Recorder::on_resized() {
  for (const Output& output : outputs_) {
    if (!output.forwarder->ended()) copy_window_size(output.forwarder->channel());
  }
  // The program had its SIGWINCH before its terminal had the new size.
  if (target_pid_ > 0 && !target_exited_) kill(static_cast<pid_t>(target_pid_), SIGWINCH);
}

void Recorder::accept_processes() {
  for (;;) {
    const int connection = accept4(setup_.listener, nullptr, nullptr, SOCK_CLOEXEC);
    if (connection < 0) return;
    const timeval patience{0, 100000};
    setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    ucred sender{};
    socklen_t size = sizeof sender;
    getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &sender, &size);
    ring::Hello hello{};
    const int fd = receive_hello(connection, &hello);
    if (fd >= 0) {
      // The kernel's word for who it is: in a pid namespace the process itself knows another
      // number.
      take_over(fd, hello, sender.pid > 0 ? sender.pid : hello.pid);
      close(fd);
    } else {
      ++finished_.refused_processes;
    }
    close(connection);
  }
}

void Recorder::take_over(int arena_fd, const ring::Hello& hello, std::int64_t pid) {
  auto arena = ArenaReader::map(arena_fd);
  if (!arena) {
    ++finished_.refused_processes;
    return;
  }
  // The same process again: it has called exec, and its former memory is done with.
  for (Traced& former : traced_) {
    if (former.pid == pid) finish(former);
  }
  std::erase_if(traced_, [](const Traced& item) { return item.arena == nullptr; });
  Traced traced;
  traced.pid = pid;
  traced.pidfd = static_cast<int>(syscall(SYS_pidfd_open, static_cast<pid_t>(pid), 0));
  traced.arena = std::make_unique<ArenaReader>(std::move(*arena));
  table_.add_traced(pid, hello.ppid);
  if (writer_.stopped()) {
    traced.arena->stop();
  } else {
    open_converter(traced, hello);
  }
  ++finished_.traced_processes;
  traced_.push_back(std::move(traced));
}

void Recorder::open_converter(Traced& traced, const ring::Hello& hello) {
  timespec real{};
  const std::int64_t now = monotonic_ns();
  clock_gettime(CLOCK_REALTIME, &real);
  const std::int64_t unix_ns = static_cast<std::int64_t>(real.tv_sec) * 1000000000 + real.tv_nsec;
  Json meta;
  meta["dialect"] = "capture";
  meta["source"] = "capture";
  meta["pid"] = traced.pid;
  meta["ppid"] = hello.ppid;
  meta["clock"] = {{"base", "CLOCK_MONOTONIC"}, {"unix_offset_ns", unix_ns - now}};
  // In a time namespace, or under a library that fakes time, the process's clock is not ours.
  const std::int64_t skew = static_cast<std::int64_t>(hello.monotonic_ns) - now;
  if (skew > 1000 * kMillisecond || skew < -10000 * kMillisecond) meta["clock"]["skew_ns"] = skew;
  meta["argv"] = table_.argv_of(traced.pid);
  if (hello.pid != traced.pid) meta["namespace_pid"] = hello.pid;
  auto file = EventFileWriter::create(writer_.next_event_file(traced.pid),
                                      meta.dump(-1, ' ', false, Json::error_handler_t::replace));
  if (!file) return stop_capture(file.error().message, true);
  writer_.keep_event_file();
  traced.converter = std::make_unique<EventConverter>(std::move(*file), traced.pid);
}

// Returns the bytes of the fullest ring.
std::uint64_t Recorder::drain_all() {
  std::uint64_t fullest = 0;
  for (Traced& traced : traced_) {
    if (traced.converter == nullptr || writer_.stopped()) continue;
    fullest = std::max(fullest, traced.arena->drain(*traced.converter));
    if (!traced.converter->status()) {
      stop_capture(traced.converter->status().error().message, true);
    }
  }
  return fullest;
}

bool has_ended(int pidfd, std::int64_t pid) {
  if (pidfd < 0) return kill(static_cast<pid_t>(pid), 0) != 0 && errno == ESRCH;
  pollfd watched{pidfd, POLLIN, 0};
  return poll(&watched, 1, 0) > 0;
}

void Recorder::finish_ended(bool all) {
  for (Traced& traced : traced_) {
    if (!all && !has_ended(traced.pidfd, traced.pid)) continue;
    if (!all && traced.pid != target_pid_) table_.set_ended(traced.pid, -1);
    finish(traced);
  }
  std::erase_if(traced_, [](const Traced& item) { return item.arena == nullptr; });
}

void Recorder::add_counts(const EventConverter& converter, const ArenaReader* arena,
                          RunTotals* totals) {
  const ConversionCounts& counts = converter.counts();
  totals->events += counts.records;
  totals->ranges += counts.ranges;
  totals->step_records += counts.step_records;
  totals->invalid += counts.invalid;
  totals->bad_step_records += counts.bad_step_records;
  const ArenaLosses losses = arena->losses();
  totals->dropped += losses.dropped;
  totals->dropped_ranges += losses.dropped_ranges;
  totals->cut += losses.cut;
  totals->without_ring += losses.without_ring;
  totals->definitions_lost += losses.definitions;
  totals->device_dropped += losses.device_dropped;
  totals->corrupt += losses.corrupt;
}

void Recorder::finish(Traced& traced) {
  if (traced.converter != nullptr) {
    if (!writer_.stopped()) {
      traced.arena->drain(*traced.converter);
      traced.arena->report_open_calls(*traced.converter);
      const Status closed = traced.converter->finish(traced.arena->losses());
      if (!closed) stop_capture(closed.error().message, true);
    }
    add_counts(*traced.converter, traced.arena.get(), &finished_);
    finished_bytes_ += traced.converter->bytes_written();
  }
  if (traced.pidfd >= 0) close(traced.pidfd);
  traced.converter.reset();
  traced.arena.reset();
}

void Recorder::write_lines(LogLines& lines, std::int64_t time_ns, std::string_view bytes) {
  std::string out;
  lines.add(time_ns, bytes, out);
  writer_.append_log(out);
}

void Recorder::collect_logs() {
  for (Output& output : outputs_) {
    for (const Chunk& chunk : output.forwarder->take()) {
      if (!writer_.stopped()) write_lines(output.lines, chunk.time_ns, chunk.bytes);
    }
  }
  if (writer_.stopped()) return;
  for (Followed& followed : followed_) {
    std::string bytes;
    followed.file.read(bytes);
    if (!bytes.empty()) write_lines(followed.lines, monotonic_ns(), bytes);
  }
}

void Recorder::flush_all() {
  if (writer_.stopped()) return;
  for (Traced& traced : traced_) {
    if (traced.converter == nullptr) continue;
    const Status flushed = traced.converter->flush();
    if (!flushed) return stop_capture(flushed.error().message, true);
  }
  if (table_.take_changed()) writer_.write_processes(table_.to_jsonl());
}

void Recorder::sample_and_flush(std::int64_t now) {
  if (now >= next_sample_ns_) {
    if (target_pid_ != 0) table_.sample();
    next_sample_ns_ = now + kSamplePeriodNs;
  }
  if (now < next_flush_ns_) return;
  flush_all();
  next_flush_ns_ = now + kFlushPeriodNs;
}

void Recorder::check_limits(std::int64_t now) {
  if (writer_.stopped()) return;
  if (options_.duration_s > 0 && static_cast<double>(now - begin_ns_) > options_.duration_s * 1e9) {
    stop_capture("the time of --duration has passed", false);
  }
  if (options_.max_bytes == 0) return;
  std::uint64_t bytes = finished_bytes_ + writer_.log_bytes();
  for (const Traced& traced : traced_) {
    if (traced.converter != nullptr) bytes += traced.converter->bytes_written();
  }
  if (bytes >= options_.max_bytes) stop_capture("the size of --max-size is reached", false);
}

// The program goes on, and so does its output; nothing more is kept.
void Recorder::stop_capture(const std::string& reason, bool failed) {
  if (writer_.stopped()) return;
  if (!failed) {
    // A limit, not an error: what is in hand is still closed properly.
    for (Traced& traced : traced_) {
      if (traced.converter == nullptr) continue;
      traced.arena->drain(*traced.converter);
      const Status closed = traced.converter->finish(traced.arena->losses());
      if (!closed) return stop_capture(closed.error().message, true);
    }
  }
  writer_.stop(reason, failed);
  for (Traced& traced : traced_) traced.arena->stop();
  for (Output& output : outputs_) output.forwarder->stop_keeping();
}

void Recorder::tell_ended_channels() {
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    if (outputs_[i].told || !outputs_[i].forwarder->ended()) continue;
    outputs_[i].told = true;
    send_message(setup_.control, {Message::kChannelEnded, static_cast<int>(i), 0});
  }
}

bool Recorder::outputs_ended() const {
  return std::all_of(outputs_.begin(), outputs_.end(),
                     [](const Output& output) { return output.forwarder->ended(); });
}

// Whether all that the program itself wrote has been passed on.
bool Recorder::outputs_drained(std::int64_t now) const {
  if (now - exit_ns_ > kDrainLimitNs) return true;
  return std::all_of(outputs_.begin(), outputs_.end(), [&](const Output& output) {
    return output.forwarder->ended() || output.forwarder->last_idle_ns() > exit_ns_;
  });
}

RunTotals Recorder::totals() {
  RunTotals totals = finished_;
  for (const Traced& traced : traced_) {
    if (traced.converter != nullptr) add_counts(*traced.converter, traced.arena.get(), &totals);
  }
  for (const Output& output : outputs_) {
    totals.log_lines += output.lines.lines();
    totals.log_bytes_unkept += output.forwarder->unkept_bytes();
    totals.output_bytes_unforwarded += output.forwarder->unforwarded_bytes();
  }
  for (const Followed& followed : followed_) totals.log_lines += followed.lines.lines();
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
  const Status sealed = writer_.seal(going_on ? "recording" : "sealed", counted);
  if (!sealed) end.manifest_error = sealed.error().message;
  if (reported_ || setup_.control < 0) return;
  reported_ = true;
  std::string text;
  for (const std::string& line : summary_lines(end, counted)) text += "teller: " + line + "\n";
  send_message(setup_.control, {Message::kDone, 0, 0}, text);
}

void Recorder::end() {
  drain_all();
  finish_ended(true);
  collect_logs();
  for (Output& output : outputs_) {
    std::string last;
    output.lines.finish(last);
    writer_.append_log(last);
  }
  for (Followed& followed : followed_) {
    std::string last;
    followed.lines.finish(last);
    writer_.append_log(last);
  }
  table_.sample();
  if (table_.take_changed()) writer_.write_processes(table_.to_jsonl());
  report(false);
  outputs_.clear();
}

void Recorder::run() {
  start_outputs();
  send_message(setup_.control, {Message::kReady, 0, 0});
  for (int tick = kIdleTickMs;;) {
    wait(tick);
    const std::int64_t now = monotonic_ns();
    handle_messages();
    accept_processes();
    tick = drain_all() > kBusyBytes ? kBusyTickMs : kIdleTickMs;
    finish_ended(false);
    collect_logs();
    sample_and_flush(now);
    check_limits(now);
    tell_ended_channels();
    if (setup_.control < 0 && !target_exited_) {
      // Without a launcher nobody tells the exit status.
      if (target_pid_ == 0) break;
      target_exited_ = has_ended(target_pidfd_, target_pid_);
      exit_ns_ = now;
    }
    if (!target_exited_) continue;
    accept_processes();
    if (outputs_ended() && traced_.empty()) break;
    if (!reported_ && outputs_drained(now)) {
      table_.sample();
      collect_logs();
      flush_all();
      report(true);
    }
  }
  end();
}

// Nothing that was meant for the program may stop the recorder, and it holds none of the program's
// descriptors.
void detach() {
  setsid();
  prctl(PR_SET_NAME, "teller-recorder");
  for (const int number : {SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGUSR1, SIGUSR2, SIGALRM, SIGTSTP,
                           SIGTTIN, SIGTTOU, SIGXFSZ}) {
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
  if (null > 2) close(null);
}

void remove_socket(const std::string& path) {
  unlink(path.c_str());
  rmdir(path.substr(0, path.rfind('/')).c_str());
}

}  // namespace

void run_recorder(const CaptureOptions& options, RecorderSetup setup, RunFolder run) {
  detach();
  const int control = setup.control;
  const std::string socket_path = setup.socket_path;
  auto writer = RunWriter::create(std::move(run));
  if (!writer) {
    send_message(control, {Message::kFailed, 0, 0}, writer.error().message);
  } else {
    Recorder(options, std::move(setup), std::move(*writer)).run();
  }
  remove_socket(socket_path);
  _exit(0);
}

}  // namespace teller::capture
