// What TracedProcesses keeps instead of writing: the newest records of each process.
#include <algorithm>
#include <utility>

#include "capture/forwarder.h"
#include "capture/traced_processes.h"

namespace teller::capture {

void TracedProcesses::keep_windows(double slow_step) {
  windows_ = true;
  slow_step_ = slow_step;
}

void TracedProcesses::forget_before(std::int64_t time_ns) {
  for (Traced& traced : traced_) {
    if (traced.window != nullptr) traced.window->records().forget_before(time_ns);
  }
  for (Ended& ended : ended_) ended.window->records().forget_before(time_ns);
  std::erase_if(ended_, [&](const Ended& ended) {
    const RecordWindow& records = ended.window->records();
    if (records.oldest_ns() != RecordWindow::kNever) return false;
    records_forgotten_ += records.records_forgotten();
    add_losses(ended.losses, &finished_);
    return true;
  });
}

RecordWindow* TracedProcesses::oldest_window() const {
  RecordWindow* oldest = nullptr;
  const auto look_at = [&oldest](ProcessWindow* window) {
    if (window == nullptr || window->records().oldest_ns() == RecordWindow::kNever) return;
    if (oldest == nullptr || window->records().oldest_ns() < oldest->oldest_ns()) {
      oldest = &window->records();
    }
  };
  for (const Traced& traced : traced_) look_at(traced.window.get());
  for (const Ended& ended : ended_) look_at(ended.window.get());
  return oldest;
}

bool TracedProcesses::forget_oldest() {
  RecordWindow* oldest = oldest_window();
  return oldest != nullptr && oldest->forget_oldest();
}

std::int64_t TracedProcesses::oldest_ns() const {
  const RecordWindow* oldest = oldest_window();
  return oldest == nullptr ? RecordWindow::kNever : oldest->oldest_ns();
}

std::uint64_t TracedProcesses::window_bytes() const {
  std::uint64_t bytes = 0;
  for (const Traced& traced : traced_) {
    if (traced.window != nullptr) bytes += traced.window->records().bytes();
  }
  for (const Ended& ended : ended_) bytes += ended.window->records().bytes();
  return bytes;
}

std::uint64_t TracedProcesses::records_forgotten() const {
  std::uint64_t records = records_forgotten_;
  for (const Traced& traced : traced_) {
    if (traced.window != nullptr) records += traced.window->records().records_forgotten();
  }
  for (const Ended& ended : ended_) records += ended.window->records().records_forgotten();
  return records;
}

void TracedProcesses::drop_windows() {
  for (Traced& traced : traced_) traced.window.reset();
  ended_.clear();
}

std::string TracedProcesses::take_slow_step(std::int64_t now_ns) {
  std::string found;
  for (Traced& traced : traced_) {
    if (traced.window == nullptr) continue;
    const std::string slow = traced.window->steps().take(now_ns);
    if (!slow.empty() && found.empty())
      found = "process " + std::to_string(traced.pid) + ": " + slow;
  }
  return found;
}

namespace {

Status write_window(const ProcessWindow& window, ArenaReader* living, const ArenaLosses& losses,
                    std::int64_t ended_ns, RunWriter& writer, RunTotals* totals) {
  auto file = EventFileWriter::create(writer.next_event_file(window.pid()), window.meta());
  if (!file) return file.error();
  writer.keep_event_file();
  EventConverter converter(std::move(*file), window.pid());
  window.records().replay(converter);
  // In a hang the calls that have not returned are the evidence.
  if (living != nullptr) living->report_unfinished(converter);
  TELLER_CHECK_OK(converter.finish(losses, ended_ns));
  add_conversion(converter.counts(), totals);
  add_losses(losses, totals);
  return {};
}

}  // namespace

// In the order in which the processes began, as far as that is still known: those that have ended
// first.
Status TracedProcesses::write_windows(RunWriter& writer, RunTotals* totals) {
  for (const Ended& ended : ended_) {
    TELLER_CHECK_OK(
        write_window(*ended.window, nullptr, ended.losses, ended.ended_ns, writer, totals));
  }
  for (const Traced& traced : traced_) {
    if (traced.window == nullptr) continue;
    TELLER_CHECK_OK(write_window(*traced.window, traced.arena.get(), traced.arena->losses(),
                                 monotonic_ns(), writer, totals));
  }
  return {};
}

}  // namespace teller::capture
