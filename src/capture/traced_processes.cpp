#include "capture/traced_processes.h"

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <utility>

#include "capture/forwarder.h"
#include "capture/messages.h"

namespace teller::capture {

using Json = nlohmann::ordered_json;

namespace {

constexpr std::int64_t kMillisecond = 1000000;
// How long a process that has connected may take to say who it is.
constexpr std::int64_t kPatienceNs = 2000 * kMillisecond;
constexpr std::size_t kMaxGuests = 256;

}  // namespace

void add_conversion(const ConversionCounts& counts, RunTotals* totals) {
  totals->events += counts.records;
  totals->ranges += counts.ranges;
  totals->step_records += counts.step_records;
  totals->invalid += counts.invalid;
  totals->bad_step_records += counts.bad_step_records;
}

void add_losses(const ArenaLosses& losses, RunTotals* totals) {
  totals->dropped += losses.dropped;
  totals->dropped_ranges += losses.dropped_ranges;
  totals->cut += losses.cut;
  totals->without_ring += losses.without_ring;
  totals->definitions_lost += losses.definitions;
  totals->device_dropped += losses.device_dropped;
  totals->device_unknown += losses.cuda.unknown;
  totals->device_malformed += losses.cuda.malformed;
  totals->corrupt += losses.corrupt;
}

bool has_ended(int pidfd, std::int64_t pid) {
  if (pidfd < 0) return kill(static_cast<pid_t>(pid), 0) != 0 && errno == ESRCH;
  pollfd watched{pidfd, POLLIN, 0};
  return poll(&watched, 1, 0) > 0;
}

Status TracedProcesses::accept(int listener) {
  for (;;) {
    const int connection = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (connection < 0) break;
    ucred sender{};
    socklen_t size = sizeof sender;
    getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &sender, &size);
    if (guests_.size() >= kMaxGuests) {
      close(guests_.front().connection);
      guests_.erase(guests_.begin());
      ++finished_.refused_processes;
    }
    guests_.push_back({connection, sender.pid, monotonic_ns()});
  }
  Status status;
  std::erase_if(guests_, [&](const Guest& guest) {
    bool left = false;
    if (const Status received = receive(guest, &left); !received) status = received;
    return left;
  });
  return status;
}

Status TracedProcesses::receive(const Guest& guest, bool* left) {
  ring::Hello hello{};
  const int fd = receive_hello(guest.connection, &hello);
  *left = fd != kNothingYet || monotonic_ns() - guest.since_ns > kPatienceNs;
  if (!*left) return {};
  close(guest.connection);
  if (fd < 0) {
    ++finished_.refused_processes;
    return {};
  }
  // The kernel's word for who it is: in a pid namespace the process itself knows another number.
  const Status taken = take_over(fd, hello, guest.pid > 0 ? guest.pid : hello.pid);
  close(fd);
  return taken;
}

Status TracedProcesses::take_over(int arena_fd, const ring::Hello& hello, std::int64_t pid) {
  auto arena = ArenaReader::map(arena_fd);
  if (!arena) {
    ++finished_.refused_processes;
    return {};
  }
  // The same process again: it has called exec, and its former memory is done with.
  for (Traced& former : traced_) {
    if (former.pid == pid) TELLER_CHECK_OK(finish(former));
  }
  forget_finished();
  Traced traced;
  traced.pid = pid;
  traced.pidfd = static_cast<int>(syscall(SYS_pidfd_open, static_cast<pid_t>(pid), 0));
  traced.arena = std::make_unique<ArenaReader>(std::move(*arena));
  table_.add_traced(pid, hello.ppid);
  ++finished_.traced_processes;
  if (writer_.stopped()) traced.arena->stop();
  const Status opened = writer_.stopped() ? Status() : open_file(traced, hello);
  traced_.push_back(std::move(traced));
  return opened;
}

namespace {

// The first of these variables that the process was started with; "" if none.
template <std::size_t kCount>
std::string first_variable(std::int64_t pid, const char* const (&names)[kCount]) {
  for (const char* name : names) {
    std::string value = start_variable(pid, name);
    if (!value.empty()) return value;
  }
  return "";
}

// Adds `text` to `meta` if it is a number as launchers of distributed jobs (torchrun) give it.
void add_count(Json& meta, const char* key, const std::string& text) {
  const bool digits = !text.empty() && text.size() <= 6 &&
                      text.find_first_not_of("0123456789") == std::string::npos;
  if (digits) meta[key] = std::stoi(text);
}

}  // namespace

std::string TracedProcesses::meta_of(const Traced& traced, const ring::Hello& hello) const {
  timespec real{};
  const std::int64_t now = monotonic_ns();
  clock_gettime(CLOCK_REALTIME, &real);
  const std::int64_t unix_ns = static_cast<std::int64_t>(real.tv_sec) * 1000000000 + real.tv_nsec;
  Json meta;
  meta["dialect"] = "capture";
  meta["source"] = "capture";
  meta["pid"] = traced.pid;
  meta["ppid"] = hello.ppid;
  meta["host"] = writer_.manifest().value("host", Json::object()).value("name", "");
  meta["clock"] = {{"base", "CLOCK_MONOTONIC"}, {"unix_offset_ns", unix_ns - now}};
  // In a time namespace, or under a library that fakes time, the process's clock is not ours.
  const std::int64_t skew = static_cast<std::int64_t>(hello.monotonic_ns) - now;
  if (skew > 1000 * kMillisecond || skew < -10000 * kMillisecond) meta["clock"]["skew_ns"] = skew;
  meta["argv"] = table_.argv_of(traced.pid);
  if (hello.pid != traced.pid) meta["namespace_pid"] = hello.pid;
  add_count(meta, "rank", first_variable(traced.pid, kRankVariables));
  add_count(meta, "world_size", first_variable(traced.pid, kWorldSizeVariables));
  return meta.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Status TracedProcesses::open_file(Traced& traced, const ring::Hello& hello) {
  std::string meta = meta_of(traced, hello);
  if (windows_) {
    traced.window = std::make_unique<ProcessWindow>(traced.pid, std::move(meta), slow_step_);
    return {};
  }
  auto file =
      EventFileWriter::create(writer_.next_event_file(traced.pid), meta, writer_.background());
  if (!file) return file.error();
  writer_.keep_event_file();
  traced.converter = std::make_unique<EventConverter>(std::move(*file), traced.pid);
  return {};
}

ArenaSink* TracedProcesses::Traced::sink() const {
  if (converter != nullptr) return converter.get();
  return window.get();
}

Status TracedProcesses::drain(std::uint64_t* fullest) {
  const std::int64_t now = monotonic_ns();
  for (Traced& traced : traced_) {
    if (traced.sink() == nullptr) continue;
    if (traced.window != nullptr) traced.window->set_time(now);
    *fullest = std::max(*fullest, traced.arena->drain(*traced.sink()));
    if (traced.converter != nullptr && !traced.converter->status()) {
      return traced.converter->status();
    }
  }
  return {};
}

Status TracedProcesses::flush() {
  for (Traced& traced : traced_) {
    if (traced.converter != nullptr) TELLER_CHECK_OK(traced.converter->flush());
  }
  return {};
}

Status TracedProcesses::finish(Traced& traced) {
  Status closed;
  if (traced.converter != nullptr) {
    if (!writer_.stopped()) {
      traced.arena->drain(*traced.converter);
      traced.arena->report_unfinished(*traced.converter);
      closed = traced.converter->finish(traced.arena->losses(), monotonic_ns());
    }
    add_conversion(traced.converter->counts(), &finished_);
    add_losses(traced.arena->losses(), &finished_);
    finished_bytes_ += traced.converter->bytes_written();
  }
  if (traced.window != nullptr) end_window(traced);
  if (traced.pidfd >= 0) close(traced.pidfd);
  traced.converter.reset();
  traced.arena.reset();
  return closed;
}

void TracedProcesses::end_window(Traced& traced) {
  traced.window->set_time(monotonic_ns());
  traced.arena->drain(*traced.window);
  traced.arena->report_unfinished(*traced.window);
  ended_.push_back({std::move(traced.window), traced.arena->losses(), monotonic_ns()});
}

void TracedProcesses::forget_finished() {
  std::erase_if(traced_, [](const Traced& item) { return item.arena == nullptr; });
}

Status TracedProcesses::finish_ended(bool all) {
  Status status;
  for (Traced& traced : traced_) {
    const bool ended = has_ended(traced.pidfd, traced.pid);
    if (!all && !ended) continue;
    if (ended) table_.set_gone(traced.pid);
    Status closed = finish(traced);
    if (status) status = std::move(closed);
  }
  forget_finished();
  return status;
}

Status TracedProcesses::close_files() {
  for (Traced& traced : traced_) {
    if (traced.converter == nullptr) continue;
    traced.arena->drain(*traced.converter);
    TELLER_CHECK_OK(traced.converter->finish(traced.arena->losses(), monotonic_ns()));
  }
  return {};
}

void TracedProcesses::stop() {
  for (Traced& traced : traced_) traced.arena->stop();
}

std::uint64_t TracedProcesses::bytes_written() const {
  std::uint64_t bytes = finished_bytes_;
  for (const Traced& traced : traced_) {
    if (traced.converter != nullptr) bytes += traced.converter->bytes_written();
  }
  return bytes;
}

void TracedProcesses::add_counts(RunTotals* totals) const {
  *totals = finished_;
  for (const Traced& traced : traced_) {
    if (traced.converter == nullptr) continue;
    add_conversion(traced.converter->counts(), totals);
    add_losses(traced.arena->losses(), totals);
  }
}

}  // namespace teller::capture
