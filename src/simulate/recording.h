// What a recorder would have seen of a simulated run; writes it as a run folder like that of
// `trace`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/interner.h"
#include "run_folder/run_folder.h"
#include "simulate/stack.h"
#include "teller/event.h"
#include "teller/result.h"

namespace teller::simulate {

struct RecordedProcess {
  std::int64_t pid = 0, ppid = 0;
  std::vector<std::string> argv;
  std::string comm;
  int rank = -1, world_size = 0;  // written to META where known
  int hook_targets = 0;           // that were installed
};

class Recording {
 public:
  // Returns the number of the process, of the thread or of the stream.
  std::size_t add_process(RecordedProcess process);
  std::uint32_t add_thread(std::size_t process, std::int64_t tid);
  std::uint32_t add_stream(std::size_t process, int device, int stream);

  void push(std::uint32_t track, std::int64_t time_ns, std::string_view name, Layer layer);
  void pop(std::uint32_t track, std::int64_t time_ns);
  // A range that a library pushes in its own domain.
  void push_plain(std::uint32_t track, std::int64_t time_ns, std::string_view name,
                  std::string_view domain);
  void pop_plain(std::uint32_t track, std::int64_t time_ns, std::string_view domain);
  void step_record(std::uint32_t track, std::int64_t time_ns, std::string_view json);
  void call(std::uint32_t track, const TreeNode& node);
  void kernel(std::uint32_t track, const TreeNode& node);
  void log(std::size_t process, std::int64_t time_ns, std::string text);

  std::size_t event_count() const { return events_.size(); }
  std::size_t log_count() const { return lines_.size(); }

  // How the program ends; 0 if it is not told.
  void set_exit(int signal) { signal_ = signal; }

  // Unix time of a time of the run, as `%m-%d %H:%M:%S`.
  static std::string clock_text(std::int64_t time_ns);

  // Writes event files, logs, processes and what the manifest says of them. `end_ns` is when the
  // program ends. What it says of the program is that of the first process.
  Status write(RunFolder& run, std::int64_t end_ns);

 private:
  struct Track {
    std::size_t process = 0;
    TrackRecord record;
  };
  struct Event {
    std::int64_t order_ns = 0;
    std::uint32_t track = 0;
    EventRecord record;  // texts are ids of `texts_`
  };
  struct Line {
    std::int64_t time_ns = 0;
    std::size_t process = 0;
    std::string text;
  };
  EventRecord& add(std::uint32_t track, EventKind kind, std::int64_t begin_ns, std::int64_t end_ns);
  Status write_events(const RunFolder& run, std::size_t process, std::string* file);
  Status write_logs(const RunFolder& run);
  Status write_processes(const RunFolder& run, std::int64_t end_ns) const;
  void describe(RunFolder& run, std::int64_t end_ns) const;

  std::vector<RecordedProcess> processes_;
  std::vector<Track> tracks_;
  std::vector<Event> events_;
  std::vector<Line> lines_;
  Interner texts_;
  int signal_ = 0;
  std::uint64_t ranges_ = 0, step_records_ = 0;
};

// When every simulated program starts, on the run's clock.
inline constexpr std::int64_t kProgramStartNs = 5'000'000'000'000;

}  // namespace teller::simulate
