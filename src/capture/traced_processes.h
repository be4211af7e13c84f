// The processes that announced themselves: their shared memory, and the event file of each.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "capture/arena_reader.h"
#include "capture/event_converter.h"
#include "capture/process_table.h"
#include "capture/process_window.h"
#include "capture/run_writer.h"

namespace teller::capture {

// Not thread-safe. Once `writer` has stopped, processes are still taken over, and told that nobody
// listens.
class TracedProcesses {
 public:
  TracedProcesses(RunWriter& writer, ProcessTable& table) : writer_(writer), table_(table) {}

  // Accepts whoever knocks at `listener` (non-blocking), and takes over those who have said who
  // they are.
  Status accept(int listener);
  // Moves what was recorded into the event files. `fullest` is set to the bytes taken from the
  // fullest ring.
  Status drain(std::uint64_t* fullest);
  Status flush();
  // Closes the files of processes that have ended, or of all.
  Status finish_ended(bool all);
  // Closes all files properly and tells the processes to stop: a limit is reached.
  Status close_files();
  // Tells the processes that nobody listens any more.
  void stop();
  // From here on nothing is written: the newest is kept (--last). `slow_step`: as in StepWatch.
  void keep_windows(double slow_step);
  void forget_before(std::int64_t time_ns);
  // Forgets the oldest chunk of all. False if there is none.
  bool forget_oldest();
  // Time of the oldest that is kept; RecordWindow::kNever if nothing is.
  std::int64_t oldest_ns() const;
  std::uint64_t window_bytes() const;
  std::uint64_t records_forgotten() const;
  // A slow step since the last call, for people; "" if there was none.
  std::string take_slow_step(std::int64_t now_ns);
  // Writes what is kept as the run's own event files: what they hold counts as the run's.
  Status write_last_windows() { return write_windows(writer_, &finished_); }
  // Gives up what is kept.
  void drop_windows();
  // Writes what is kept as event files of `writer`'s run, and adds what they hold to `totals`.
  Status write_windows(RunWriter& writer, RunTotals* totals);
  bool empty() const { return traced_.empty() && guests_.empty(); }
  std::uint64_t bytes_written() const;
  void add_counts(RunTotals* totals) const;

 private:
  struct Traced {
    std::int64_t pid = 0;
    int pidfd = -1;
    std::unique_ptr<ArenaReader> arena;
    std::unique_ptr<EventConverter> converter;  // writes its event file
    std::unique_ptr<ProcessWindow> window;      // or, with --last, keeps the newest
    // Null: nothing is kept of it.
    ArenaSink* sink() const;
  };
  // Who has knocked and not said who it is: on a busy machine it may be put aside in between.
  struct Guest {
    int connection = -1;
    std::int64_t pid = 0;  // 0: unknown
    std::int64_t since_ns = 0;
  };
  // Of a process that has ended: it goes when its window has passed.
  struct Ended {
    std::unique_ptr<ProcessWindow> window;
    ArenaLosses losses;
    std::int64_t ended_ns = 0;
  };
  // Sets *left if the guest need not be waited for any longer.
  Status receive(const Guest& guest, bool* left);
  Status take_over(int arena_fd, const ring::Hello& hello, std::int64_t pid);
  std::string meta_of(const Traced& traced, const ring::Hello& hello) const;
  Status open_file(Traced& traced, const ring::Hello& hello);
  void end_window(Traced& traced);
  RecordWindow* oldest_window() const;
  Status finish(Traced& traced);
  void forget_finished();

  RunWriter& writer_;
  ProcessTable& table_;
  std::vector<Guest> guests_;
  std::vector<Traced> traced_;
  RunTotals finished_;  // of processes whose files are closed
  std::uint64_t finished_bytes_ = 0;
  bool windows_ = false;
  double slow_step_ = 0;
  std::vector<Ended> ended_;
  std::uint64_t records_forgotten_ = 0;
};

// Add to the totals what one process's events, or its losses, come to.
void add_conversion(const ConversionCounts& counts, RunTotals* totals);
void add_losses(const ArenaLosses& losses, RunTotals* totals);

// Whether a process has ended; by its pidfd where there is one.
bool has_ended(int pidfd, std::int64_t pid);

}  // namespace teller::capture
