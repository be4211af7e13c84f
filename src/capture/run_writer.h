// Everything that the recorder writes into the run folder, and what it does when it can write no
// more.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/background_writer.h"
#include "capture/log_window.h"
#include "context/context.h"
#include "redact/redact.h"
#include "run_folder/run_folder.h"

namespace teller::capture {

// Totals of a run, for the manifest and for the last line.
struct RunTotals {
  std::uint64_t events = 0;
  std::uint64_t ranges = 0;
  std::uint64_t step_records = 0;
  std::uint64_t log_lines = 0;
  std::uint64_t processes = 0;
  std::uint64_t traced_processes = 0;
  // Losses.
  std::uint64_t dropped = 0;
  std::uint64_t dropped_ranges = 0;
  std::uint64_t cut = 0;
  std::uint64_t without_ring = 0;
  std::uint64_t definitions_lost = 0;
  std::uint64_t device_dropped = 0;
  std::uint64_t device_unknown = 0;
  std::uint64_t device_malformed = 0;
  std::uint64_t corrupt = 0;
  std::uint64_t invalid = 0;
  std::uint64_t bad_step_records = 0;
  std::uint64_t refused_processes = 0;
  std::uint64_t log_bytes_unkept = 0;
  std::uint64_t output_bytes_unforwarded = 0;
  RedactCounts redacted;  // what was not stored, by kind
  ContextCounts context;
};

// Not thread-safe. After the first failed write nothing more is written but, at the end, the
// manifest.
class RunWriter {
 public:
  // Makes events/ and logs.jsonl in `run`, and sets some disk space aside for the manifest.
  static Result<RunWriter> create(RunFolder run);
  RunWriter(RunWriter&&) noexcept;
  RunWriter& operator=(RunWriter&&) = delete;
  ~RunWriter();

  // From here on event files and log lines are written by a thread of their own: a disk that stalls
  // holds up nobody.
  void write_in_background();
  // For the next event file; null = written at once.
  BackgroundWriter* background() const { return background_.get(); }
  // More waits to be written than should: nothing more is taken from the rings until it is less.
  bool backlogged() const { return background_ != nullptr && background_->full(); }
  // What writing in the background failed of.
  Status background_status() const;

  // Path of the next process's event file.
  std::string next_event_file(std::int64_t pid);
  // That file exists and belongs to the run.
  void keep_event_file() { event_files_.push_back(pending_event_file_); }
  void append_log(std::string_view lines);
  // Samples of what was around the program; the file is made with the first.
  void append_context(std::string_view lines);
  // From here on lines go there instead of into the files; null = into the files again.
  void keep_lines_in(LogWindow* logs, LogWindow* context) {
    logs_.window = logs;
    context_.window = context;
  }
  void write_processes(const std::string& jsonl);
  // Ends the capture: nothing is written from here on. The first reason stays.
  void stop(const std::string& reason, bool failed);
  bool stopped() const { return !stop_reason_.empty(); }
  bool failed() const { return failed_; }
  const std::string& stop_reason() const { return stop_reason_; }
  std::uint64_t log_bytes() const { return logs_.bytes; }
  std::uint64_t context_bytes() const { return context_.bytes; }
  nlohmann::ordered_json& manifest() { return run_.manifest(); }
  const std::string& path() const { return run_.path(); }

  // Writes the manifest as it is.
  Status save() { return run_.save(); }
  // Publishes what there is and writes the manifest in `state`.
  Status seal(std::string_view state, const RunTotals& totals);

 private:
  // A file of JSON lines that grows.
  struct LineFile {
    const char* name;
    int fd = -1;
    std::uint64_t bytes = 0;
    LogWindow* window = nullptr;  // lines are kept there instead
  };

  explicit RunWriter(RunFolder run);
  Status open_lines(LineFile& file);
  void append(LineFile& file, std::string_view lines);
  Status publish(const RunTotals& totals);
  void finish_background();

  RunFolder run_;
  LineFile logs_{"logs.jsonl"};
  LineFile context_{"context.jsonl"};
  std::vector<std::string> event_files_;
  std::string pending_event_file_;
  std::uint64_t next_file_ = 0;
  std::unique_ptr<BackgroundWriter> background_;
  bool has_processes_ = false;
  bool failed_ = false;
  std::string stop_reason_;
};

}  // namespace teller::capture
