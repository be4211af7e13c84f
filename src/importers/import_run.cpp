// Reads all inputs into one run.
#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>

#include "base/file.h"
#include "base/saturate.h"
#include "importers/flight_dump.h"
#include "importers/importers.h"
#include "importers/run_logs.h"
#include "importers/source_kind.h"
#include "importers/source_names.h"
#include "importers/workplace.h"
#include "run_folder/run_folder.h"

namespace teller {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

namespace {

// An error about an unpacked member, told of the archive that it came from.
Error labelled(Error error, const InputFile& input) {
  const auto at = error.message.find(input.path);
  if (at != std::string::npos) error.message.replace(at, input.path.size(), input.label);
  return error;
}

// A trace among the inputs.
struct Trace {
  InputFile input;
  SourceKind kind = SourceKind::kKineto;
  FlightRank rank = {};  // of dumps of a flight recorder
  std::string name = {};
  bool skipped = false;  // it was found, and can't be read
};

Result<SourceResult> import_as(SourceKind dialect, const SourceRequest& request,
                               const std::string& output) {
  switch (dialect) {
    case SourceKind::kNsys:
      return import_nsys(request, output);
    case SourceKind::kOtlp:
      return import_otlp(request, output);
    case SourceKind::kExecutionTrace:
      return import_chakra(request, output);
    case SourceKind::kFlight:  // needs its rank: import_one()
    case SourceKind::kLog:     // is none
    case SourceKind::kKineto:
      break;
  }
  return import_kineto(request, output);
}

class RunImport {
 public:
  RunImport(const ImportOptions& options, InputList& inputs, RunFolder& run, LogZones zones)
      : options_(options),
        inputs_(inputs),
        run_(run),
        logs_(run.file("logs.jsonl"), std::move(zones), options.stop) {}

  Result<ImportSummary> import() {
    TELLER_CHECK_OK(tell_apart());
    TELLER_CHECK_OK(find_ranks());
    name_traces();
    const auto is_tied = [](const Trace& trace) {
      return trace.kind == SourceKind::kExecutionTrace;
    };
    const bool ties = std::any_of(traces_.begin(), traces_.end(), is_tied);
    operators_ = ties ? std::make_unique<OperatorTimes>() : nullptr;
    // Execution traces come last: they take their times from a profiler's trace of the process.
    for (const bool last : {false, true}) {
      for (std::size_t i = 0; i < traces_.size(); ++i) {
        if (is_tied(traces_[i]) == last) TELLER_CHECK_OK(import_or_skip(i));
      }
    }
    note_ranks("file name",
               "are from the names of their files: their process groups fit several ranks");
    note_ranks("unknown",
               "are not known: their process groups fit several ranks, and the names of their "
               "files do not end with one of them");
    TELLER_CHECK_OK(leave_out_skipped());
    TELLER_CHECK_OK(logs_.read_files(log_paths_, times_));
    summary_.logs = std::move(logs_.summaries());
    summary_.log_lines = logs_.writer().lines();
    for (const std::string& note : logs_.notes()) inputs_.notes.push_back(note);
    TELLER_CHECK_OK(publish());
    if (stopped()) return stop_error();
    return std::move(summary_);
  }

 private:
  bool stopped() const {
    return options_.stop != nullptr && options_.stop->load(std::memory_order_relaxed);
  }
  Error stop_error() const {
    return {ErrorCode::kInterrupted, "creating run " + options_.output + ": stopped on request",
            ""};
  }

  // Traces and logs among the inputs, and of which kind each is, before the first is read.
  Status tell_apart() {
    for (const InputFile& input : inputs_.files) {
      Trace trace{input};
      const Result<SourceKind> kind = kind_of_named(input.path, options_.stop);
      if (!kind) {
        TELLER_CHECK_OK(skip_or_fail(trace, kind.error()));
      } else if (*kind == SourceKind::kLog) {
        log_paths_.push_back(input.path);
        continue;
      } else {
        trace.kind = *kind;
      }
      traces_.push_back(std::move(trace));
    }
    log_paths_.insert(log_paths_.end(), options_.logs.begin(), options_.logs.end());
    if (!traces_.empty()) return {};
    return Error{ErrorCode::kUsage,
                 "importing " + log_paths_.front() + ": it is a log, and no trace is given",
                 "give the trace of the same program with it"};
  }

  // What was named must be read; what was found in a folder or an archive and can't be read is
  // skipped, and said.
  Status skip_or_fail(Trace& trace, const Error& error) {
    const Error told = labelled(error, trace.input);
    if (!trace.input.container || !is_of_one_input(error)) return told;
    trace.skipped = true;
    inputs_.skipped.push_back(skipped_for(trace.input.label, told));
    inputs_.unreadable.push_back(inputs_.skipped.back());
    ContainerCounts& counts = inputs_.containers[*trace.input.container];
    --counts.traces;
    ++counts.others;
    return {};
  }

  // Which ranks wrote the dumps. A rank may only be found with the help of all dumps: they are
  // read here, and again for their events.
  Status find_ranks() {
    std::vector<FlightClue> clues;
    std::vector<Trace*> dumps;
    for (Trace& trace : traces_) {
      if (trace.kind != SourceKind::kFlight || trace.skipped) continue;
      SourceRequest request;
      request.path = trace.input.path;
      TELLER_TRY(const auto input, InputStream::open(request.path, {.stop = options_.stop}));
      auto dump = read_flight_dump(*input);
      if (!dump) {
        TELLER_CHECK_OK(skip_or_fail(trace, with_source(dump.error(), request)));
        continue;
      }
      clues.push_back(flight_clue(*dump, last_part(trace.input.label)));
      dumps.push_back(&trace);
    }
    const std::vector<FlightRank> ranks = resolve_flight_ranks(clues);
    for (std::size_t i = 0; i < dumps.size(); ++i) dumps[i]->rank = ranks[i];
    return {};
  }

  void name_traces() {
    std::vector<InputFile> files;
    for (const Trace& trace : traces_) files.push_back(trace.input);
    summary_.names = source_names(files);
    for (std::size_t i = 0; i < traces_.size(); ++i) traces_[i].name = summary_.names[i];
    summary_.files.resize(traces_.size());
    summary_.sources.resize(traces_.size());
  }

  // When the events of a source were: logs lie near to them.
  void take_middle(const SourceResult& source) {
    const auto offset = unix_offset(source.clock);
    if (!offset || !source.layers.middle_ns || times_.middle_unix_ns) return;
    times_.middle_unix_ns = saturating_add(*source.layers.middle_ns, *offset);
  }

  Status import_or_skip(std::size_t index) {
    Trace& trace = traces_[index];
    if (trace.skipped) return {};
    const std::string file = event_file_name(index, trace.name);
    const LogWriter::Mark before = logs_.writer().mark();
    const std::size_t processes = operators_ ? operators_->processes().size() : 0;
    Status done = import_one(index, file);
    if (done) return {};
    TELLER_CHECK_OK(skip_or_fail(trace, done.error()));
    std::error_code error;
    fs::remove(run_.file(file), error);
    if (operators_) operators_->keep_first(processes);
    return logs_.writer().take_back(before);
  }

  Status import_one(std::size_t index, const std::string& file) {
    const Trace& trace = traces_[index];
    SourceRequest request;
    request.path = trace.input.path;
    request.name = trace.name;
    request.allow_truncated = options_.allow_truncated;
    request.stop = options_.stop;
    request.operators = operators_.get();
    request.log = [this](const Json& clock, LogLine& line) { return take_log(clock, line); };
    if (options_.progress) {
      request.progress = [this, index](std::uint64_t done, std::uint64_t total) {
        options_.progress(traces_[index].input.label, done, total);
      };
    }
    auto result = trace.kind == SourceKind::kFlight
                      ? import_flight(request, trace.rank, run_.file(file))
                      : import_as(trace.kind, request, run_.file(file));
    if (!result) return result.error();
    // Dumps of ranks with nothing open may be the same byte for byte.
    std::string digest = result->digest;
    if (trace.kind == SourceKind::kFlight && trace.rank.rank) {
      digest += " of rank " + std::to_string(*trace.rank.rank);
    }
    TELLER_CHECK_OK(check_new(trace.input.label, digest));
    take_clock(*result);
    take_middle(*result);
    summary_.files[index] = file;
    summary_.sources[index] = std::move(*result);
    first_ = false;
    return {};
  }

  Status leave_out_skipped() {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < traces_.size(); ++i) {
      if (traces_[i].skipped) continue;
      summary_.names[kept] = traces_[i].name;
      if (kept != i) {
        summary_.files[kept] = std::move(summary_.files[i]);
        summary_.sources[kept] = std::move(summary_.sources[i]);
      }
      ++kept;
    }
    summary_.names.resize(kept);
    summary_.files.resize(kept);
    summary_.sources.resize(kept);
    const std::vector<SkippedFile>& unreadable = inputs_.unreadable;
    if (unreadable.empty()) return {};
    if (kept == 0) {
      const std::size_t place = traces_.front().input.container.value_or(0);
      return nothing_left(inputs_.containers[place].label, unreadable);
    }
    inputs_.notes.push_back(std::to_string(unreadable.size()) +
                            " inputs that were found can't be read and were skipped, the first: " +
                            unreadable.front().label + ": " + unreadable.front().why);
    return {};
  }

  // One line for all dumps whose ranks were found in this way, at the first of them.
  void note_ranks(const char* from, const char* words) {
    std::size_t count = 0;
    std::size_t first = 0;
    for (std::size_t i = traces_.size(); i-- > 0;) {
      const Trace& trace = traces_[i];
      if (trace.kind != SourceKind::kFlight || trace.skipped || trace.rank.from != from) continue;
      ++count;
      first = i;
    }
    if (count == 0) return;
    summary_.sources[first].notes.push_back("the ranks of " + std::to_string(count) + " dumps " +
                                            words);
  }

  static std::optional<std::int64_t> unix_offset(const Json& clock) {
    const auto found = clock.find("unix_offset_ns");
    if (found == clock.end() || !found->is_number_integer()) return std::nullopt;
    return found->get<std::int64_t>();
  }

  // The run's clock is the first one that is tied to Unix time.
  void take_clock(const SourceResult& source) {
    const auto offset = unix_offset(source.clock);
    if (!clock_.is_null() || !offset) return;
    clock_ = source.clock;
    times_.unix_offset_ns = offset;
  }

  // Times of logs are on the run's clock, which is that of their source if none was before. A time
  // that can't be brought there is left out.
  Status take_log(const Json& clock, LogLine& line) {
    const auto offset = unix_offset(clock);
    const auto run_offset = clock_.is_null() ? offset : unix_offset(clock_);
    std::int64_t shift = 0;
    std::int64_t time = line.t_ns.value_or(0);
    const bool known = offset && run_offset &&
                       !__builtin_sub_overflow(*offset, *run_offset, &shift) &&
                       !__builtin_add_overflow(time, shift, &time);
    if (line.t_ns && known) line.t_ns = time;
    if (!known && !first_) line.t_ns.reset();
    return logs_.writer().add(line);
  }

  // The same trace twice would count all that happened twice.
  Status check_new(const std::string& path, const std::string& digest) {
    const auto [seen, is_new] = digests_.emplace(digest, path);
    if (is_new) return {};
    return Error{ErrorCode::kUsage, "importing " + path + ": it holds the same as " + seen->second,
                 "give each trace once"};
  }

  Status publish() {
    std::uint64_t events = 0;
    Json sources = Json::array();
    std::map<std::string, std::string> digests;
    for (std::size_t i = 0; i < summary_.sources.size(); ++i) {
      const SourceResult& source = summary_.sources[i];
      events += source.events_written;
      digests[summary_.files[i]] = source.output_digest;
      sources.push_back({{"file", summary_.names[i]},
                         {"bytes", source.bytes},
                         {"xxh128", source.digest},
                         {"dialect", source.dialect},
                         {"events_file", summary_.files[i]},
                         {"events", source.events_written},
                         {"truncated", source.counts.truncated}});
    }
    if (!clock_.is_null()) run_.manifest()["clock"] = clock_;
    run_.manifest()["sources"] = std::move(sources);
    if (!inputs_.skipped.empty()) run_.manifest()["skipped_files"] = inputs_.skipped.size();
    for (const LogFileSummary& log : summary_.logs) {
      run_.manifest()["imported_logs"].push_back(log.to_json());
    }
    ArtifactInfo info;
    info.name = "events";
    info.files = summary_.files;
    info.made_by = "import";
    info.records = events;
    Json used = {{"allow_truncated", options_.allow_truncated}};
    if (!options_.log_zones.empty()) used["log_timezone"] = options_.log_zones;
    info.options_json = used.dump();
    TELLER_CHECK_OK(run_.publish(info, digests));
    if (summary_.log_lines > 0) {
      info.name = "logs";
      info.files = {"logs.jsonl"};
      info.records = summary_.log_lines;
      TELLER_CHECK_OK(run_.publish(info));
    }
    run_.set_state("sealed");
    return run_.save();
  }

  const ImportOptions& options_;
  InputList& inputs_;
  RunFolder& run_;
  RunLogs logs_;
  ImportSummary summary_;
  std::vector<Trace> traces_;
  std::vector<std::string> log_paths_;
  RunTimes times_;
  Json clock_;                                  // of the run; null until a source has one
  bool first_ = true;                           // no source was read yet
  std::unique_ptr<OperatorTimes> operators_;    // null where nothing will ask for them
  std::map<std::string, std::string> digests_;  // of sources -> path
};

}  // namespace

Result<ImportSummary> import_files(const ImportOptions& options) {
  TELLER_CHECK_OK(check_output(options.output, options.overwrite));
  TELLER_TRY(LogZones zones, read_zones(options.log_zones));
  Workplace place(options.output);
  auto created = RunFolder::create(place.path(), "import", false);
  if (!created) return place.with_output(created.error());
  RunFolder run = std::move(*created);
  std::error_code error;
  fs::create_directory(run.file("events"), error);
  if (error) return errno_error("creating " + run.file("events"), error.value());
  const InputListOptions listing{
      place.make_unpacked(), options.allow_truncated, options.stop,
      [&options](const std::string& path) { return why_no_trace(path, options.stop); }};
  auto inputs = list_inputs(options.inputs, listing);
  if (!inputs) return place.with_output(inputs.error());
  TELLER_TRY(ImportSummary summary, RunImport(options, *inputs, run, std::move(zones)).import());
  summary.skipped = std::move(inputs->skipped);
  summary.containers = std::move(inputs->containers);
  summary.notes = std::move(inputs->notes);
  place.remove_unpacked();
  TELLER_CHECK_OK(place.move_to_output());
  summary.run = options.output;
  return summary;
}

}  // namespace teller
