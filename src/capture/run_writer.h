// Everything that the recorder writes into the run folder, and what it does when it can write no
// more.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

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

  // Path of the next process's event file.
  std::string next_event_file(std::int64_t pid);
  // That file exists and belongs to the run.
  void keep_event_file() { event_files_.push_back(pending_event_file_); }
  void append_log(std::string_view lines);
  void write_processes(const std::string& jsonl);
  // Ends the capture: nothing is written from here on. The first reason stays.
  void stop(const std::string& reason, bool failed);
  bool stopped() const { return !stop_reason_.empty(); }
  bool failed() const { return failed_; }
  const std::string& stop_reason() const { return stop_reason_; }
  std::uint64_t log_bytes() const { return log_bytes_; }
  nlohmann::ordered_json& manifest() { return run_.manifest(); }
  const std::string& path() const { return run_.path(); }

  // Writes the manifest as it is.
  Status save() { return run_.save(); }
  // Publishes what there is and writes the manifest in `state`.
  Status seal(std::string_view state, const RunTotals& totals);

 private:
  explicit RunWriter(RunFolder run);
  Status publish(const RunTotals& totals);

  RunFolder run_;
  int log_fd_ = -1;
  std::uint64_t log_bytes_ = 0;
  std::vector<std::string> event_files_;
  std::string pending_event_file_;
  std::uint64_t next_file_ = 0;
  bool has_processes_ = false;
  bool failed_ = false;
  std::string stop_reason_;
};

}  // namespace teller::capture
