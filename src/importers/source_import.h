// What every importer takes and gives: one source file in, one event file and a summary out.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "importers/flight_dump.h"
#include "importers/input_stream.h"
#include "importers/operator_times.h"
#include "importers/source_counts.h"
#include "importers/source_layers.h"
#include "run_folder/event_file.h"
#include "teller/result.h"

namespace teller {

// One line of a log that a trace carries; see logs.jsonl in docs/run_folder.md.
struct LogLine {
  std::optional<std::int64_t> t_ns;  // on the source's clock; nothing if the trace does not say
  std::string stream;                // "stdout", "stderr" or the name of a file
  std::string source;                // for stdout and stderr: the file that they were kept in
  std::optional<std::int64_t> pid;
  std::string level;      // "" where the source states none
  std::string placed_by;  // of a log file: how its time was found, or why it has none
  std::string text;       // without line end, valid UTF-8
  bool raw = false;       // bytes that are no UTF-8 were replaced
  bool cont = false;      // a further piece of an over-long line
};

// What an importer is asked to do.
struct SourceRequest {
  std::string path;
  std::string name;  // the path's last part: all that artefacts say about where a source was
  bool allow_truncated = false;
  // Called now and then with bytes done and bytes in all; may be empty.
  std::function<void(std::uint64_t, std::uint64_t)> progress;
  const std::atomic<bool>* stop = nullptr;  // set when the user asked to stop; may be null
  // Given each log line that the source carries, and META "clock" of the source; may be empty.
  std::function<Status(const nlohmann::ordered_json& clock, LogLine& line)> log;
  // Of the traces read before, where an execution trace is to follow; may be null.
  OperatorTimes* operators = nullptr;
};

// What an importer found.
struct SourceResult {
  std::string dialect;        // "kineto", "nsys", "flight", "otlp", "execution_trace"
  std::string digest;         // of the source
  std::string output_digest;  // of the event file; "" if its writer does not know
  std::uint64_t bytes = 0;
  std::uint64_t events_written = 0;
  SourceCounts counts;
  SourceLayers layers;                // of the events written
  std::string truncated_reason;       // "" if the source is whole
  std::vector<std::string> notes;     // what was left out besides records, one line each
  std::uint64_t requests = 0;         // that it states: spans of them
  nlohmann::ordered_json clock;       // META "clock"
  nlohmann::ordered_json rank;        // number or null
  nlohmann::ordered_json world_size;  // number or null
  nlohmann::ordered_json rows;        // Nsight: table -> rows; else null
};

inline bool stop_requested(const SourceRequest& request) {
  return request.stop != nullptr && request.stop->load(std::memory_order_relaxed);
}
// "PATH: not a trace that teller knows: WHY", with what teller reads.
Error unknown_trace_error(const std::string& why);
// `error`, which says what is wrong with the source, with the source's path before it.
Error with_source(Error error, const SourceRequest& request);
// "PATH: it stops before its end …" with how much could be kept and the option that keeps it.
Error truncated_error(const SourceRequest& request, const std::string& reason,
                      std::uint64_t whole_events);
Error interrupted_error(const SourceRequest& request);
// Text of a META block; never fails on bytes that are no UTF-8.
std::string meta_text(const nlohmann::ordered_json& meta);

// Reads the rest of `input`, and says in `counts` what stands behind it and was not read: before
// they go to META. Sets the digest of `result`, and its notes.
Status read_to_end(const SourceRequest& request, InputStream& input, SourceCounts& counts,
                   SourceResult& result);
// The end of an import, after read_to_end(): writes `meta` and what result owes to it, to `input`
// and to `writer`.
Status finish_source(const nlohmann::ordered_json& meta, const InputStream& input,
                     EventFileWriter& writer, SourceResult& result);

// Each reads request.path (already known to be of its dialect) into a new event file `output`.
Result<SourceResult> import_kineto(const SourceRequest& request, const std::string& output);
Result<SourceResult> import_nsys(const SourceRequest& request, const std::string& output);
// `rank` is who wrote the dump, as resolve_flight_ranks() found it.
Result<SourceResult> import_flight(const SourceRequest& request, const FlightRank& rank,
                                   const std::string& output);
Result<SourceResult> import_otlp(const SourceRequest& request, const std::string& output);
Result<SourceResult> import_chakra(const SourceRequest& request, const std::string& output);

}  // namespace teller
