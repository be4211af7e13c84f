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
#include "importers/log_lines.h"
#include "importers/log_zones.h"
#include "importers/source_kind.h"
#include "importers/source_names.h"
#include "importers/workplace.h"
#include "run_folder/run_folder.h"

namespace teller {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

namespace {

std::vector<std::string> log_names(const std::vector<std::string>& paths) {
  std::vector<InputFile> files;
  for (const std::string& path : paths) files.push_back({path, path});
  return source_names(files);
}

// An error about an unpacked member, told of the archive that it came from.
Error labelled(Error error, const InputFile& input) {
  const auto at = error.message.find(input.path);
  if (at != std::string::npos) error.message.replace(at, input.path.size(), input.label);
  return error;
}

// Which ranks wrote the dumps among the inputs; in the order of the inputs, empty for others. A
// rank may only be found with the help of all dumps: they are read here, and again for their
// events.
Result<std::vector<FlightRank>> ranks_of_dumps(const ImportOptions& options,
                                               const std::vector<InputFile>& files,
                                               const std::vector<SourceKind>& dialects) {
  std::vector<FlightRank> ranks(dialects.size());
  std::vector<FlightClue> clues;
  for (std::size_t i = 0; i < dialects.size(); ++i) {
    if (dialects[i] != SourceKind::kFlight) continue;
    SourceRequest request;
    request.path = files[i].path;
    TELLER_TRY(const auto input, InputStream::open(request.path, {.stop = options.stop}));
    auto dump = read_flight_dump(*input);
    if (!dump) return labelled(with_source(dump.error(), request), files[i]);
    clues.push_back(flight_clue(*dump, last_part(files[i].label)));
  }
  const std::vector<FlightRank> resolved = resolve_flight_ranks(clues);
  auto next = resolved.begin();
  for (std::size_t i = 0; i < dialects.size(); ++i) {
    if (dialects[i] == SourceKind::kFlight) ranks[i] = *next++;
  }
  return ranks;
}

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
  RunImport(const ImportOptions& options, const InputList& inputs, RunFolder& run)
      : options_(options), inputs_(inputs), run_(run) {}

  Result<ImportSummary> import() {
    TELLER_TRY(const auto zones, read_zones(options_.log_zones));
    TELLER_CHECK_OK(tell_apart());
    const std::vector<SourceKind>& dialects = kinds_;
    TELLER_TRY(ranks_, ranks_of_dumps(options_, traces_, dialects));
    summary_.names = source_names(traces_);
    summary_.files.resize(dialects.size());
    summary_.sources.resize(dialects.size());
    const bool ties =
        std::find(dialects.begin(), dialects.end(), SourceKind::kExecutionTrace) != dialects.end();
    operators_ = ties ? std::make_unique<OperatorTimes>() : nullptr;
    // Execution traces come last: they take their times from a profiler's trace of the process.
    for (const bool last : {false, true}) {
      for (std::size_t i = 0; i < dialects.size(); ++i) {
        if ((dialects[i] == SourceKind::kExecutionTrace) != last) continue;
        if (Status status = import_one(i, dialects[i]); !status) {
          return labelled(status.error(), traces_[i]);
        }
      }
    }
    note_ranks(dialects, "file name",
               "are from the names of their files: their process groups fit several ranks");
    note_ranks(
        dialects, "unknown",
        "are not known: their process groups fit several ranks, and the names of their files "
        "do not end with one of them");
    TELLER_CHECK_OK(read_logs(zones));
    summary_.log_lines = lines_.size();
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
      const Result<SourceKind> kind = kind_of_named(input.path, options_.stop);
      if (!kind) return labelled(kind.error(), input);
      if (*kind == SourceKind::kLog) {
        logs_.push_back(input.path);
        continue;
      }
      traces_.push_back(input);
      kinds_.push_back(*kind);
    }
    logs_.insert(logs_.end(), options_.logs.begin(), options_.logs.end());
    if (!traces_.empty()) return {};
    return Error{ErrorCode::kUsage,
                 "importing " + logs_.front() + ": it is a log, and no trace is given",
                 "give the trace of the same program with it"};
  }

  Status read_logs(const std::map<std::string, LogZone>& zones) {
    const std::vector<std::string> names = log_names(logs_);
    TELLER_CHECK_OK(check_zones(zones, logs_, names));
    for (std::size_t i = 0; i < logs_.size(); ++i) {
      if (stopped()) return stop_error();
      std::vector<LogLine> lines;
      TELLER_CHECK_OK(read_log_file(logs_[i], names[i], options_.stop, lines));
      summary_.logs.push_back(place_lines(lines, zone_of(zones, logs_[i], names[i]), times_));
      summary_.logs.back().name = names[i];
      lines_.insert(lines_.end(), std::make_move_iterator(lines.begin()),
                    std::make_move_iterator(lines.end()));
    }
    return {};
  }

  // When the events of a source were: logs lie near to them.
  void take_middle(const SourceResult& source) {
    const auto offset = unix_offset(source.clock);
    if (!offset || !source.layers.middle_ns || times_.middle_unix_ns) return;
    times_.middle_unix_ns = saturating_add(*source.layers.middle_ns, *offset);
  }

  Status import_one(std::size_t index, SourceKind dialect) {
    SourceRequest request;
    request.path = traces_[index].path;
    request.name = summary_.names[index];
    request.allow_truncated = options_.allow_truncated;
    request.stop = options_.stop;
    request.operators = operators_.get();
    if (options_.progress) {
      request.progress = [this, index](std::uint64_t done, std::uint64_t total) {
        options_.progress(traces_[index].label, done, total);
      };
    }
    const std::string file = event_file_name(index, request.name);
    auto result = dialect == SourceKind::kFlight
                      ? import_flight(request, ranks_[index], run_.file(file))
                      : import_as(dialect, request, run_.file(file));
    if (!result) return result.error();
    // Dumps of ranks with nothing open may be the same byte for byte.
    std::string digest = result->sha256;
    if (dialect == SourceKind::kFlight && ranks_[index].rank) {
      digest += " of rank " + std::to_string(*ranks_[index].rank);
    }
    TELLER_CHECK_OK(check_new(traces_[index].label, digest));
    take_logs(*result);
    summary_.files[index] = file;
    summary_.sources[index] = std::move(*result);
    first_ = false;
    take_middle(summary_.sources[index]);
    return {};
  }

  // One line for all dumps whose ranks were found in this way, at the first of them.
  void note_ranks(const std::vector<SourceKind>& dialects, const char* from, const char* words) {
    std::size_t count = 0;
    std::size_t first = 0;
    for (std::size_t i = dialects.size(); i-- > 0;) {
      if (dialects[i] != SourceKind::kFlight || ranks_[i].from != from) continue;
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

  // The run's clock is the first one that is tied to Unix time; times of logs are on it. A time
  // that can't be brought there is left out.
  void take_logs(SourceResult& source) {
    const auto offset = unix_offset(source.clock);
    if (clock_.is_null() && offset) {
      clock_ = source.clock;
      times_.unix_offset_ns = offset;
    }
    const auto run_offset = unix_offset(clock_);
    for (LogLine& line : source.logs) {
      std::int64_t shift = 0;
      std::int64_t time = line.t_ns.value_or(0);
      const bool known = offset && run_offset &&
                         !__builtin_sub_overflow(*offset, *run_offset, &shift) &&
                         !__builtin_add_overflow(time, shift, &time);
      if (line.t_ns && known) line.t_ns = time;
      if (!known && !first_) line.t_ns.reset();
      lines_.push_back(std::move(line));
    }
    source.logs.clear();
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
      digests[summary_.files[i]] = source.output_sha256;
      sources.push_back({{"file", summary_.names[i]},
                         {"bytes", source.bytes},
                         {"sha256", source.sha256},
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
    if (!lines_.empty()) {
      TELLER_CHECK_OK(write_file_atomic(run_.file("logs.jsonl"), log_lines_json(lines_)));
      info.name = "logs";
      info.files = {"logs.jsonl"};
      info.records = lines_.size();
      TELLER_CHECK_OK(run_.publish(info));
    }
    run_.set_state("sealed");
    return run_.save();
  }

  const ImportOptions& options_;
  const InputList& inputs_;
  RunFolder& run_;
  ImportSummary summary_;
  std::vector<InputFile> traces_;
  std::vector<SourceKind> kinds_;  // of the traces
  std::vector<std::string> logs_;  // paths
  RunTimes times_;
  std::vector<LogLine> lines_;
  std::vector<FlightRank> ranks_;               // of inputs that are flight recorder dumps
  Json clock_;                                  // of the run; null until a source has one
  bool first_ = true;                           // no source was read yet
  std::unique_ptr<OperatorTimes> operators_;    // null where nothing will ask for them
  std::map<std::string, std::string> digests_;  // of sources -> path
};

}  // namespace

Result<ImportSummary> import_files(const ImportOptions& options) {
  TELLER_CHECK_OK(check_output(options.output, options.overwrite));
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
  TELLER_TRY(ImportSummary summary, RunImport(options, *inputs, run).import());
  summary.skipped = std::move(inputs->skipped);
  summary.containers = std::move(inputs->containers);
  summary.notes = std::move(inputs->notes);
  place.remove_unpacked();
  TELLER_CHECK_OK(place.move_to_output());
  summary.run = options.output;
  return summary;
}

}  // namespace teller
