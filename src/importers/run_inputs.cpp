#include "importers/run_inputs.h"

#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "importers/copies.h"
#include "importers/input_skips.h"
#include "importers/input_stream.h"
#include "importers/out_of_memory.h"
#include "importers/source_import.h"
#include "importers/source_names.h"

namespace teller {

namespace {

class Sorter {
 public:
  Sorter(InputList& list, const std::atomic<bool>* stop) : list_(list), stop_(stop) {}

  Result<RunInputs> sort(const std::vector<std::string>& logs) {
    TELLER_CHECK_OK(tell_apart());
    for (const std::string& path : logs) sorted_.logs.push_back({path, path});
    if (sorted_.traces.empty()) return no_trace();
    TELLER_CHECK_OK(find_ranks());
    TELLER_CHECK_OK(leave_out_traces());
    TELLER_CHECK_OK(leave_out_logs());
    note_copies();
    return std::move(sorted_);
  }

 private:
  Status tell_apart() {
    for (const InputFile& input : list_.files) {
      if (input.log) {
        sorted_.logs.push_back(input);
        continue;
      }
      TraceInput trace{input};
      const Result<SourceKind> kind = kind_of_named(input.path, stop_);
      if (!kind) {
        TELLER_CHECK_OK(skip_or_fail(trace, kind.error()));
      } else if (*kind == SourceKind::kLog) {
        sorted_.logs.push_back(input);
        continue;
      } else {
        trace.kind = *kind;
      }
      sorted_.traces.push_back(std::move(trace));
    }
    return {};
  }

  Error no_trace() const {
    const InputFile& log = sorted_.logs.front();
    return {ErrorCode::kUsage, "importing " + log.label + ": it is a log, and no trace is given",
            "give the trace of the same program with it"};
  }

  Status skip_or_fail(TraceInput& trace, const Error& error) {
    TELLER_CHECK_OK(teller::skip_or_fail(trace.input, error, list_));
    trace.skipped = true;
    return {};
  }

  // Which ranks wrote the dumps. A rank may only be found with the help of all dumps: they are
  // read here, and again for their events.
  Status find_ranks() {
    std::vector<FlightClue> clues;
    std::vector<TraceInput*> dumps;
    for (TraceInput& trace : sorted_.traces) {
      if (trace.kind != SourceKind::kFlight || trace.skipped) continue;
      SourceRequest request;
      request.path = trace.input.path;
      TELLER_TRY(const auto input, InputStream::open(request.path, {.stop = stop_}));
      auto dump = dump_in(*input, request);
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

  static Result<nlohmann::ordered_json> dump_in(InputStream& input, const SourceRequest& request) {
    try {
      return read_flight_dump(input);
    } catch (...) {
      return thrown_error("importing " + request.path);
    }
  }

  // The same trace twice would count all that happened twice. Dumps of ranks with nothing open may
  // be the same byte for byte: of two whose ranks are not known, nobody can tell whether they are.
  Status leave_out_traces() {
    std::vector<CopyCandidate> files;
    std::vector<TraceInput*> of;
    for (const bool found : {false, true}) {
      for (TraceInput& trace : sorted_.traces) {
        if (trace.skipped || trace.input.container.has_value() != found) continue;
        CopyCandidate file{trace.input.path};
        const auto& rank = trace.rank.rank;
        if (rank) file.apart = std::to_string(*rank);
        if (trace.kind == SourceKind::kFlight && !rank) file.twin = twin_of(trace.input);
        files.push_back(std::move(file));
        of.push_back(&trace);
      }
    }
    TELLER_TRY(const auto copies, find_copies(files, stop_));
    for (std::size_t i = 0; i < copies.size(); ++i) {
      if (!copies[i]) continue;
      TELLER_CHECK_OK(leave_out(of[i]->input, of[*copies[i]]->input, "give each trace once"));
      of[i]->skipped = true;
    }
    return {};
  }

  // Logs of different ranks are often the same: one warning, and nothing else.
  Status leave_out_logs() {
    std::vector<InputFile>& logs = sorted_.logs;
    std::vector<CopyCandidate> files;
    std::vector<std::size_t> of;
    for (const bool found : {false, true}) {
      for (std::size_t i = 0; i < logs.size(); ++i) {
        if (logs[i].container.has_value() != found) continue;
        files.push_back({.path = logs[i].path, .twin = twin_of(logs[i])});
        of.push_back(i);
      }
    }
    TELLER_TRY(const auto copies, find_copies(files, stop_));
    std::vector<bool> out(logs.size());
    for (std::size_t i = 0; i < copies.size(); ++i) {
      if (!copies[i]) continue;
      TELLER_CHECK_OK(leave_out(logs[of[i]], logs[of[*copies[i]]], "give each log once"));
      out[of[i]] = true;
    }
    std::vector<InputFile> kept;
    for (std::size_t i = 0; i < logs.size(); ++i) {
      if (!out[i]) kept.push_back(std::move(logs[i]));
    }
    logs = std::move(kept);
    return note_equal_logs();
  }

  // They are read, but someone may have given one log under two names.
  Status note_equal_logs() {
    std::vector<CopyCandidate> files;
    for (const InputFile& log : sorted_.logs) files.push_back({log.path});
    TELLER_TRY(const auto copies, find_copies(files, stop_));
    std::size_t count = 0;
    std::string first;
    for (std::size_t i = 0; i < copies.size(); ++i) {
      if (!copies[i] || count++ > 0) continue;
      first = sorted_.logs[i].label + ": " + same_as(sorted_.logs[*copies[i]]);
    }
    if (count == 0) return {};
    list_.notes.push_back(count == 1 ? first + "; both were read"
                                     : std::to_string(count) +
                                           " logs hold the same as others and were read all the "
                                           "same, the first: " +
                                           first);
    return {};
  }

  static std::string same_as(const InputFile& other) {
    return "it holds the same as " + other.label;
  }

  // Equal for a file and its compressed twin beside it.
  std::string twin_of(const InputFile& input) const {
    if (input.container && list_.containers[*input.container].archive) {
      return twin_name(input.label);  // its path is one of ours
    }
    std::error_code error;
    const auto path = std::filesystem::canonical(input.path, error);
    return twin_name(error ? input.path : path.string());
  }

  // `input` was found and holds the same as another; if both were named, one of them is a mistake.
  Status leave_out(const InputFile& input, const InputFile& other, const std::string& hint) {
    const std::string why = same_as(other);
    if (!input.container) {
      return Error{ErrorCode::kUsage, "importing " + input.label + ": " + why, hint};
    }
    skip_copy(input, why, list_);
    copies_.push_back({input.label, why});
    return {};
  }

  void note_copies() {
    if (copies_.empty()) return;
    const SkippedFile& first = copies_.front();
    list_.notes.push_back(
        copies_.size() == 1 ? first.label + ": " + first.why + "; it was left out"
                            : std::to_string(copies_.size()) +
                                  " inputs hold the same as others and were left out, the first: " +
                                  first.label + ": " + first.why);
  }

  InputList& list_;
  const std::atomic<bool>* stop_;
  RunInputs sorted_;
  std::vector<SkippedFile> copies_;
};

}  // namespace

Result<RunInputs> sort_inputs(InputList& list, const std::vector<std::string>& logs,
                              const std::atomic<bool>* stop) {
  return Sorter(list, stop).sort(logs);
}

}  // namespace teller
