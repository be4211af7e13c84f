#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>

#include "base/file.h"
#include "importers/content_signs.h"
#include "importers/flight_dump.h"
#include "importers/importers.h"
#include "importers/input_list.h"
#include "importers/input_stream.h"
#include "importers/json_dialect.h"
#include "importers/log_lines.h"
#include "run_folder/run_folder.h"

namespace teller {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

namespace {

constexpr std::string_view kSqliteMagic{"SQLite format 3\0", 16};
constexpr std::string_view kZstdMagic{"\x28\xb5\x2f\xfd", 4};

enum class Dialect { kKineto, kNsys, kFlight, kOtlp, kExecutionTrace };

std::string last_part(const std::string& path) {
  const fs::path name = fs::path(path).filename();
  return name.empty() ? path : name.string();
}

// The first bytes of a regular file.
Result<std::string> read_head(const std::string& path) {
  const std::string action = "importing " + path;
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return errno_error(action, errno);
  struct stat info {};
  std::string head(64 << 10, '\0');
  const bool known = fstat(fd, &info) == 0;
  const ssize_t got = known && S_ISREG(info.st_mode) ? pread(fd, head.data(), head.size(), 0) : 0;
  const int number = errno;
  close(fd);
  if (!known || got < 0) return errno_error(action, number);
  if (S_ISDIR(info.st_mode)) {
    return Error{ErrorCode::kUsage, action + ": it is a folder", "give the trace files in it"};
  }
  if (!S_ISREG(info.st_mode)) {
    return Error{ErrorCode::kUsage, action + ": it is not a regular file",
                 "copy the trace to a file"};
  }
  if (got == 0) return Error{ErrorCode::kCorrupt, action + ": it is empty", ""};
  head.resize(static_cast<std::size_t>(got));
  return head;
}

// An error about an unpacked member, told of the archive that it came from.
Error labelled(Error error, const InputFile& input) {
  const auto at = error.message.find(input.path);
  if (at != std::string::npos) error.message.replace(at, input.path.size(), input.label);
  return error;
}

Result<Dialect> dialect_of(const std::string& path, const std::atomic<bool>* stop) {
  TELLER_TRY(const std::string head, read_head(path));
  if (head.starts_with(kSqliteMagic)) return Dialect::kNsys;
  // A file of less than the mark's length that begins like it is a cut SQLite file.
  if (head.starts_with("SQLite format")) {
    return Error{ErrorCode::kCorrupt, "importing " + path + ": its SQLite header is cut off", ""};
  }
  std::string text = plain_head(head);
  if (head.starts_with(kZstdMagic)) {
    TELLER_TRY(text, inflated_head(path, stop));
  }
  if (looks_like_flight_dump(text)) return Dialect::kFlight;
  switch (json_dialect(text)) {
    case JsonDialect::kOtlp:
      return Dialect::kOtlp;
    case JsonDialect::kExecutionTrace:
      return Dialect::kExecutionTrace;
    case JsonDialect::kKineto:
      break;
  }
  return Dialect::kKineto;
}

// Whether a file that was found in a folder or an archive is a trace, by what it holds. Other
// programs write pickles too: a dump's name their groups or entries.
Result<bool> is_trace(const std::string& path, const std::atomic<bool>* stop) {
  TELLER_TRY(const std::string head, inflated_head(path, stop));
  if (looks_like_flight_dump(head)) {
    return head.find("pg_config") != std::string::npos || head.find("entries") != std::string::npos;
  }
  return head.starts_with(kSqliteMagic) || is_chrome_trace(head) ||
         json_dialect(head) != JsonDialect::kKineto;
}

// Which ranks wrote the dumps among the inputs; in the order of the inputs, empty for others. A
// rank may only be found with the help of all dumps: they are read here, and again for their
// events.
Result<std::vector<FlightRank>> ranks_of_dumps(const ImportOptions& options,
                                               const std::vector<InputFile>& files,
                                               const std::vector<Dialect>& dialects) {
  std::vector<FlightRank> ranks(dialects.size());
  std::vector<FlightClue> clues;
  for (std::size_t i = 0; i < dialects.size(); ++i) {
    if (dialects[i] != Dialect::kFlight) continue;
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
    if (dialects[i] == Dialect::kFlight) ranks[i] = *next++;
  }
  return ranks;
}

Result<SourceResult> import_as(Dialect dialect, const SourceRequest& request,
                               const std::string& output) {
  switch (dialect) {
    case Dialect::kNsys:
      return import_nsys(request, output);
    case Dialect::kOtlp:
      return import_otlp(request, output);
    case Dialect::kExecutionTrace:
      return import_chakra(request, output);
    case Dialect::kFlight:  // needs its rank: import_one()
    case Dialect::kKineto:
      break;
  }
  return import_kineto(request, output);
}

// Where the run will be: a folder that is not there, an empty one, or a run to replace.
Status check_output(const std::string& path, bool overwrite) {
  const std::string action = "creating run " + path;
  std::error_code error;
  const auto status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) return {};
  if (error) return errno_error(action, error.value());
  if (!fs::is_directory(status)) {
    return Error{ErrorCode::kUsage, action + ": a file of that name is there",
                 "choose another place with -o"};
  }
  const bool empty = fs::is_empty(path, error);
  if (error) return errno_error(action, error.value());
  if (empty) return {};
  if (!overwrite) {
    return Error{ErrorCode::kUsage, action + ": it is there and not empty",
                 "choose another place with -o, or --overwrite to replace it"};
  }
  if (auto old = RunFolder::open(path); !old && old.error().code != ErrorCode::kUnsupported) {
    return Error{ErrorCode::kUsage, action + ": it is not a teller run, so it is not replaced",
                 "choose another place with -o"};
  }
  return {};
}

// The folder that a run is built in, beside its place; removed unless it was moved there.
class Workplace {
 public:
  explicit Workplace(const std::string& output) : output_(clean(output)) {
    path_ = output_ + ".importing-" + std::to_string(getpid());
  }
  Workplace(const Workplace&) = delete;
  Workplace& operator=(const Workplace&) = delete;
  ~Workplace() {
    std::error_code error;
    if (!moved_) fs::remove_all(path_, error);
  }

  const std::string& path() const { return path_; }

  // An error about the place, told of the output that the user named.
  Error with_output(Error error) const {
    const auto at = error.message.find(path_);
    if (at != std::string::npos) error.message.replace(at, path_.size(), output_);
    return error;
  }

  // Replaces what is at the output by what was built.
  Status move_to_output() {
    std::error_code error;
    const std::string old = path_ + ".old";
    const bool replace = fs::exists(output_, error);
    if (replace) fs::rename(output_, old, error);
    if (error) return errno_error("replacing run " + output_, error.value());
    fs::rename(path_, output_, error);
    if (error) {
      const int number = error.value();
      if (replace) fs::rename(old, output_, error);
      return errno_error("creating run " + output_, number);
    }
    moved_ = true;
    if (replace) fs::remove_all(old, error);
    return {};
  }

 private:
  // Without a slash at the end, links followed: the folder itself is moved, not the link.
  static std::string clean(const std::string& output) {
    std::error_code error;
    fs::path path = fs::weakly_canonical(output, error);
    if (error) path = output;
    if (path.filename().empty()) path = path.parent_path();
    return path.string();
  }

  std::string output_;
  std::string path_;
  bool moved_ = false;
};

// Where archives are unpacked: in the run's workplace, and gone before the run is moved.
class Unpacked {
 public:
  explicit Unpacked(const std::string& workplace) : path_(workplace + "/unpacked") {
    std::error_code error;
    fs::create_directory(path_, error);  // unpacking will say why it can't write
  }
  const std::string& path() const { return path_; }
  void remove() const {
    std::error_code error;
    fs::remove_all(path_, error);
  }

 private:
  std::string path_;
};

// "events/3.name.tev": the number keeps equal names apart.
std::string event_file_name(std::size_t index, const std::string& name) {
  std::string stem = name;
  for (const char* ending : {".gz", ".zst", ".json", ".sqlite", ".trace", ".pt"}) {
    if (stem.size() > std::strlen(ending) && stem.ends_with(ending)) {
      stem.resize(stem.size() - std::strlen(ending));
    }
  }
  for (char& c : stem) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '.' || c == '_' || c == '-' || static_cast<unsigned char>(c) >= 0x80;
    if (!plain) c = '_';
  }
  return "events/" + std::to_string(index) + "." + stem.substr(0, 100) + ".tev";
}

class RunImport {
 public:
  RunImport(const ImportOptions& options, const InputList& inputs, RunFolder& run)
      : options_(options), inputs_(inputs), run_(run) {}

  Result<ImportSummary> import() {
    std::vector<Dialect> dialects;  // of all, before the first is read
    for (const InputFile& input : inputs_.files) {
      const Result<Dialect> dialect = dialect_of(input.path, options_.stop);
      if (!dialect) return labelled(dialect.error(), input);
      dialects.push_back(*dialect);
    }
    TELLER_TRY(ranks_, ranks_of_dumps(options_, inputs_.files, dialects));
    summary_.names.resize(dialects.size());
    summary_.files.resize(dialects.size());
    summary_.sources.resize(dialects.size());
    const bool ties =
        std::find(dialects.begin(), dialects.end(), Dialect::kExecutionTrace) != dialects.end();
    operators_ = ties ? std::make_unique<OperatorTimes>() : nullptr;
    // Execution traces come last: they take their times from a profiler's trace of the process.
    for (const bool last : {false, true}) {
      for (std::size_t i = 0; i < dialects.size(); ++i) {
        if ((dialects[i] == Dialect::kExecutionTrace) != last) continue;
        if (Status status = import_one(i, dialects[i]); !status) {
          return labelled(status.error(), inputs_.files[i]);
        }
      }
    }
    note_ranks(dialects, "file name",
               "are from the names of their files: their process groups fit several ranks");
    note_ranks(
        dialects, "unknown",
        "are not known: their process groups fit several ranks, and the names of their files "
        "do not end with one of them");
    for (const std::string& log : options_.logs) {
      if (stopped()) return stop_error();
      TELLER_CHECK_OK(read_log_file(log, last_part(log), lines_));
    }
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

  Status import_one(std::size_t index, Dialect dialect) {
    SourceRequest request;
    request.path = inputs_.files[index].path;
    request.name = last_part(inputs_.files[index].label);
    request.allow_truncated = options_.allow_truncated;
    request.stop = options_.stop;
    request.operators = operators_.get();
    if (options_.progress) {
      request.progress = [this, index](std::uint64_t done, std::uint64_t total) {
        options_.progress(inputs_.files[index].label, done, total);
      };
    }
    const std::string file = event_file_name(index, request.name);
    auto result = dialect == Dialect::kFlight
                      ? import_flight(request, ranks_[index], run_.file(file))
                      : import_as(dialect, request, run_.file(file));
    if (!result) return result.error();
    TELLER_CHECK_OK(check_new(inputs_.files[index].label, result->sha256));
    take_logs(*result);
    summary_.names[index] = request.name;
    summary_.files[index] = file;
    summary_.sources[index] = std::move(*result);
    first_ = false;
    return {};
  }

  // One line for all dumps whose ranks were found in this way, at the first of them.
  void note_ranks(const std::vector<Dialect>& dialects, const char* from, const char* words) {
    std::size_t count = 0;
    std::size_t first = 0;
    for (std::size_t i = dialects.size(); i-- > 0;) {
      if (dialects[i] != Dialect::kFlight || ranks_[i].from != from) continue;
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
    if (clock_.is_null() && offset) clock_ = source.clock;
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
    ArtifactInfo info;
    info.name = "events";
    info.files = summary_.files;
    info.made_by = "import";
    info.records = events;
    const Json used = {{"allow_truncated", options_.allow_truncated}};
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
  std::vector<LogLine> lines_;
  std::vector<FlightRank> ranks_;               // of inputs that are flight recorder dumps
  Json clock_;                                  // of the run; null until a source has one
  bool first_ = true;                           // no source was read yet
  std::unique_ptr<OperatorTimes> operators_;    // null where nothing will ask for them
  std::map<std::string, std::string> digests_;  // of sources -> path
};

}  // namespace

Json ImportSummary::to_json() const {
  Json json;
  json["run"] = run;
  json["sources"] = Json::array();
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const SourceResult& source = sources[i];
    Json one = {{"file", names[i]},        {"dialect", source.dialect},
                {"events_file", files[i]}, {"bytes", source.bytes},
                {"sha256", source.sha256}, {"counts", source.counts.to_json()},
                {"rank", source.rank},     {"world_size", source.world_size}};
    if (!source.rows.is_null()) one["rows"] = source.rows;
    if (!source.notes.empty()) one["notes"] = source.notes;
    json["sources"].push_back(std::move(one));
  }
  json["skipped"] = Json::array();
  for (const SkippedFile& one : skipped) {
    json["skipped"].push_back({{"file", one.label}, {"why", one.why}});
  }
  json["log_lines"] = log_lines;
  return json;
}

Result<ImportSummary> import_files(const ImportOptions& options) {
  TELLER_CHECK_OK(check_output(options.output, options.overwrite));
  Workplace place(options.output);
  auto created = RunFolder::create(place.path(), "import", false);
  if (!created) return place.with_output(created.error());
  RunFolder run = std::move(*created);
  std::error_code error;
  fs::create_directory(run.file("events"), error);
  if (error) return errno_error("creating " + run.file("events"), error.value());
  const Unpacked unpacked(place.path());
  const InputListOptions listing{
      unpacked.path(), options.allow_truncated, options.stop,
      [&options](const std::string& path) { return is_trace(path, options.stop); }};
  auto inputs = list_inputs(options.inputs, listing);
  if (!inputs) return place.with_output(inputs.error());
  TELLER_TRY(ImportSummary summary, RunImport(options, *inputs, run).import());
  summary.skipped = std::move(inputs->skipped);
  summary.notes = std::move(inputs->notes);
  unpacked.remove();
  TELLER_CHECK_OK(place.move_to_output());
  summary.run = options.output;
  return summary;
}

}  // namespace teller
