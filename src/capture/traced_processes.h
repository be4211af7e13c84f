// The processes that announced themselves: their shared memory, and the event file of each.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "capture/arena_reader.h"
#include "capture/event_converter.h"
#include "capture/process_table.h"
#include "capture/run_writer.h"

namespace teller::capture {

// Not thread-safe. Once `writer` has stopped, processes are still taken over, and told that nobody
// listens.
class TracedProcesses {
 public:
  TracedProcesses(RunWriter& writer, ProcessTable& table) : writer_(writer), table_(table) {}

  // Accepts whoever knocks at `listener` (non-blocking).
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
  bool empty() const { return traced_.empty(); }
  std::uint64_t bytes_written() const;
  void add_counts(RunTotals* totals) const;

 private:
  struct Traced {
    std::int64_t pid = 0;
    int pidfd = -1;
    std::unique_ptr<ArenaReader> arena;
    std::unique_ptr<EventConverter> converter;  // null: nothing is kept of it
  };
  Status take_over(int arena_fd, const ring::Hello& hello, std::int64_t pid);
  Status open_file(Traced& traced, const ring::Hello& hello);
  Status finish(Traced& traced);
  void forget_finished();

  RunWriter& writer_;
  ProcessTable& table_;
  std::vector<Traced> traced_;
  RunTotals finished_;  // of processes whose files are closed
  std::uint64_t finished_bytes_ = 0;
};

// Whether a process has ended; by its pidfd where there is one.
bool has_ended(int pidfd, std::int64_t pid);

}  // namespace teller::capture
