// Reads all inputs into one run.
#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>

#include "base/file.h"
#include "importers/importers.h"
#include "importers/input_skips.h"
#include "importers/made_parents.h"
#include "importers/out_of_memory.h"
#include "importers/run_inputs.h"
#include "importers/run_logs.h"
#include "importers/run_timeline.h"
#include "importers/source_kind.h"
#include "importers/source_names.h"
#include "run_folder/run_folder.h"
#include "run_folder/workplace.h"

namespace teller {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

namespace {

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

// What is thrown, for want of memory mostly, is told of the source that took it.
Result<SourceResult> import_source(const TraceInput& trace, const SourceRequest& request,
                                   const std::string& output) {
  try {
    return trace.kind == SourceKind::kFlight ? import_flight(request, trace.rank, output)
                                             : import_as(trace.kind, request, output);
  } catch (...) {
    return thrown_error("importing " + request.path);
  }
}

class RunImport {
 public:
  RunImport(const ImportOptions& options, InputList& inputs, RunFolder& run, LogZones zones)
      : options_(options),
        inputs_(inputs),
        run_(run),
        logs_(run.file("logs.jsonl"), std::move(zones), options.stop) {}

  Result<ImportSummary> import() {
    TELLER_CHECK_OK(sort());
    name_traces();
    const auto is_tied = [](const TraceInput& trace) {
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
    TELLER_CHECK_OK(logs_.read_files(log_files_, timeline_.times(), inputs_));
    note_unreadable();
    summary_.logs = std::move(logs_.summaries());
    summary_.log_lines = logs_.writer().lines();
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

  Status sort() {
    TELLER_TRY(RunInputs sorted, sort_inputs(inputs_, options_.logs, options_.stop));
    traces_ = std::move(sorted.traces);
    log_files_ = std::move(sorted.logs);
    return {};
  }

  void name_traces() {
    std::vector<InputFile> files;
    for (const TraceInput& trace : traces_) {
      if (!trace.skipped) files.push_back(trace.input);
    }
    const std::vector<std::string> names = source_names(files);
    std::size_t next = 0;
    for (TraceInput& trace : traces_) {
      if (!trace.skipped) trace.name = names[next++];
    }
    summary_.names.resize(traces_.size());
    summary_.files.resize(traces_.size());
    summary_.sources.resize(traces_.size());
  }

  Status import_or_skip(std::size_t index) {
    TraceInput& trace = traces_[index];
    if (trace.skipped) return {};
    const std::string file = event_file_name(index, trace.name);
    const LogWriter::Mark before = logs_.writer().mark();
    const std::size_t processes = operators_ ? operators_->processes().size() : 0;
    Status done = import_one(index, file);
    if (done) return {};
    TELLER_CHECK_OK(skip_or_fail(trace.input, done.error(), inputs_));
    trace.skipped = true;
    std::error_code error;
    fs::remove(run_.file(file), error);
    if (operators_) operators_->keep_first(processes);
    return logs_.writer().take_back(before);
  }

  Status import_one(std::size_t index, const std::string& file) {
    const TraceInput& trace = traces_[index];
    SourceRequest request;
    request.path = trace.input.path;
    request.name = trace.name;
    request.allow_truncated = options_.allow_truncated;
    request.stop = options_.stop;
    request.operators = operators_.get();
    request.log = [this](const Json& clock, LogLine& line) {
      timeline_.place(clock, line);
      return logs_.writer().add(line);
    };
    if (options_.progress) {
      request.progress = [this, index](std::uint64_t done, std::uint64_t total) {
        options_.progress(traces_[index].input.label, done, total);
      };
    }
    auto result = import_source(trace, request, run_.file(file));
    if (!result) return result.error();
    timeline_.take(*result);
    summary_.files[index] = file;
    summary_.sources[index] = std::move(*result);
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
    if (kept > 0) return {};
    const std::size_t place = traces_.front().input.container.value_or(0);
    return nothing_left(inputs_.containers[place].label, inputs_.unreadable);
  }

  void note_unreadable() {
    const std::vector<SkippedFile>& unreadable = inputs_.unreadable;
    if (unreadable.empty()) return;
    inputs_.notes.push_back(std::to_string(unreadable.size()) +
                            " inputs that were found can't be read and were skipped, the first: " +
                            unreadable.front().label + ": " + unreadable.front().why);
  }

  // One line for all dumps whose ranks were found in this way, at the first of them.
  void note_ranks(const char* from, const char* words) {
    std::size_t count = 0;
    std::size_t first = 0;
    for (std::size_t i = traces_.size(); i-- > 0;) {
      const TraceInput& trace = traces_[i];
      if (trace.kind != SourceKind::kFlight || trace.skipped || trace.rank.from != from) continue;
      ++count;
      first = i;
    }
    if (count == 0) return;
    summary_.sources[first].notes.push_back("the ranks of " + std::to_string(count) + " dumps " +
                                            words);
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
    if (!timeline_.clock().is_null()) run_.manifest()["clock"] = timeline_.clock();
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
  std::vector<TraceInput> traces_;
  std::vector<InputFile> log_files_;
  RunTimeline timeline_;
  std::unique_ptr<OperatorTimes> operators_;  // null where nothing will ask for them
};

Result<FoundFile> what_is(const std::string& path, const ImportOptions& options) {
  TELLER_TRY(FoundFile found, what_was_found(path, options.stop));
  const bool unwanted = found.kind == FoundFile::Kind::kLog && !options.found_logs;
  if (unwanted) found = {FoundFile::Kind::kOther, "it is a log (--no-logs)"};
  return found;
}

Result<ImportSummary> import_new(const ImportOptions& options, LogZones zones) {
  Workplace place(options.output);
  const OutOfMemoryGuard guard("creating run " + options.output, place.path());
  auto created = RunFolder::create(place.path(), "import", false);
  if (!created) return place.with_output(created.error());
  RunFolder run = std::move(*created);
  std::error_code error;
  fs::create_directory(run.file("events"), error);
  if (error) return errno_error("creating " + run.file("events"), error.value());
  const InputListOptions listing{
      place.make_unpacked(), options.allow_truncated, options.stop,
      [&options](const std::string& path) { return what_is(path, options); }};
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

}  // namespace

Result<ImportSummary> import_files(const ImportOptions& options) {
  std::vector<std::string> inputs = options.inputs;
  inputs.insert(inputs.end(), options.logs.begin(), options.logs.end());
  TELLER_CHECK_OK(check_output(options.output, options.overwrite, inputs));
  TELLER_TRY(LogZones zones, read_zones(options.log_zones));
  const MadeParents parents(options.output);
  try {
    return import_new(options, std::move(zones));
  } catch (...) {
    return thrown_error("creating run " + options.output);
  }
}

}  // namespace teller
