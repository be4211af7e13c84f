#include "merge/merge.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "base/file.h"
#include "base/json_fields.h"
#include "merge/shifted_lines.h"
#include "run_folder/event_file.h"
#include "run_folder/run_clock.h"
#include "run_folder/run_folder.h"
#include "run_folder/workplace.h"

namespace teller {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

namespace {

// One of the runs that are brought together.
struct Part {
  RunFolder run;
  SourceClock clock;
  std::string state;
};

Result<Part> open_part(const std::string& path) {
  TELLER_TRY(RunFolder run, RunFolder::open(path));
  SourceClock clock = read_clock(run.manifest());
  std::string state = text_of(run.manifest(), "state");
  return Part{std::move(run), std::move(clock), std::move(state)};
}

// The digest of a run's events; "" where it has none yet.
std::string events_digest(const Part& part) {
  return text_of(member(member(part.run.manifest(), "artifacts"), "events"), "digest");
}

class Merger {
 public:
  Merger(const MergeOptions& options, std::vector<Part> parts)
      : options_(options), parts_(std::move(parts)) {}

  Result<MergeSummary> run();

 private:
  Status not_stopped() const;
  std::int64_t shift_of(const Part& part) const;
  void note_damage(const std::string& original, const std::string& copy);
  Status copy_events(const Part& part, const RunFolder& out);
  Status append_lines(const Part& part, const RunFolder& out, const char* artefact,
                      const std::vector<std::string_view>& times, std::uint64_t* lines);
  Status publish(RunFolder& out, const char* artefact, std::vector<std::string> files,
                 std::uint64_t records) const;
  void describe(RunFolder& out) const;
  Status fill(RunFolder& out);

  const MergeOptions& options_;
  std::vector<Part> parts_;
  const Part* base_ = nullptr;  // whose clock is the merged run's; null if none has one
  std::vector<std::string> event_files_;
  std::uint64_t events_ = 0;
  MergeSummary summary_;
};

Status Merger::not_stopped() const {
  if (options_.stop == nullptr || !options_.stop->load()) return {};
  return Error{ErrorCode::kInterrupted, "merging into " + options_.output + " was stopped", ""};
}

std::int64_t Merger::shift_of(const Part& part) const {
  return base_ == nullptr ? 0 : shift_between(part.clock, base_->clock);
}

Status Merger::copy_events(const Part& part, const RunFolder& out) {
  TELLER_TRY(const auto files, part.run.require_artifact("events"));
  for (const std::string& file : files) {
    TELLER_CHECK_OK(not_stopped());
    // NNNN.<rest of its name>: as trace names them, numbered anew.
    const std::string name = fs::path(file).filename().string();
    const std::size_t dot = name.find('.');
    char number[32];
    std::snprintf(number, sizeof number, "events/%04llu",
                  static_cast<unsigned long long>(event_files_.size()));
    const std::string copy = number + (dot == std::string::npos ? ".tev" : name.substr(dot));
    std::error_code error;
    fs::copy_file(part.run.file(file), out.file(copy), error);
    TELLER_CHECK_OK(not_stopped());  // a signal may have interrupted the copy
    if (error) return errno_error("copying " + part.run.file(file), error.value());
    event_files_.push_back(copy);
    note_damage(part.run.file(file), out.file(copy));
  }
  const Json records =
      member(member(member(part.run.manifest(), "artifacts"), "events"), "records");
  if (records.is_number_unsigned()) events_ += records.get<std::uint64_t>();
  return {};
}

Status Merger::append_lines(const Part& part, const RunFolder& out, const char* artefact,
                            const std::vector<std::string_view>& times, std::uint64_t* lines) {
  TELLER_CHECK_OK(part.run.check_listed(artefact));
  const std::string path = out.file(std::string(artefact) + ".jsonl");
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (fd < 0) return errno_error("creating " + path, errno);
  for (const std::string& file : part.run.artifact_files(artefact)) {
    const ShiftRequest request{part.run.file(file), times, shift_of(part), part.clock.host};
    auto counts = append_shifted(request, fd, path);
    if (!counts) {
      close(fd);
      return counts.error();
    }
    *lines += counts->lines;
    summary_.malformed_lines += counts->malformed;
    summary_.times_out_of_range += counts->out_of_range;
  }
  if (close(fd) != 0) return errno_error("writing " + path, errno);
  return {};
}

Status Merger::publish(RunFolder& out, const char* artefact, std::vector<std::string> files,
                       std::uint64_t records) const {
  ArtifactInfo info;
  info.name = artefact;
  info.made_by = "merge";
  info.files = std::move(files);
  info.records = records;
  return out.publish(info);
}

void Merger::describe(RunFolder& out) const {
  Json& manifest = out.manifest();
  if (base_ != nullptr) {
    manifest["clock"] = base_->run.manifest()["clock"];
    // In a run of several hosts nothing else says whose clock it is.
    if (!base_->clock.host.empty()) manifest["clock"]["host"] = base_->clock.host;
  }
  std::set<std::string> hosts;
  Json merged = Json::array();
  for (const Part& part : parts_) {
    hosts.insert(part.clock.host);
    merged.push_back({{"run", fs::path(part.run.path()).filename().string()},
                      {"host", part.clock.host.empty() ? Json() : Json(part.clock.host)},
                      {"state", part.state},
                      {"shift_ns", shift_of(part)},
                      {"target", member(part.run.manifest(), "target")},
                      {"counters", member(part.run.manifest(), "counters")}});
  }
  if (hosts.size() == 1) manifest["host"] = member(parts_[0].run.manifest(), "host");
  manifest["merged"] = std::move(merged);
}

void Merger::note_damage(const std::string& original, const std::string& copy) {
  const auto file = EventFile::open(copy);
  if (!file) {
    summary_.damaged.push_back(original + ": it can't be read as events");
  } else if (!file->damage().whole) {
    summary_.damaged.push_back(original + ": " + file->damage().reason);
  }
}

Result<MergeSummary> Merger::run() {
  for (const Part& part : parts_) {
    if (base_ == nullptr && part.clock.unix_offset_ns) base_ = &part;
    if (!part.clock.unix_offset_ns) summary_.no_clock.push_back(part.run.path());
    if (part.state != "sealed") summary_.unfinished.push_back(part.run.path());
  }
  Workplace place(options_.output);
  auto out = RunFolder::create(place.path(), "merge", false);
  if (!out) return place.with_output(out.error());
  if (const Status filled = fill(*out); !filled) return place.with_output(filled.error());
  TELLER_CHECK_OK(place.move_to_output());
  return std::move(summary_);
}

Status Merger::fill(RunFolder& out) {
  std::error_code error;
  fs::create_directory(out.file("events"), error);
  if (error) return errno_error("creating " + out.file("events"), error.value());
  for (const Part& part : parts_) {
    TELLER_CHECK_OK(copy_events(part, out));
    TELLER_CHECK_OK(append_lines(part, out, "logs", {"t"}, &summary_.log_lines));
    TELLER_CHECK_OK(append_lines(part, out, "processes", {"start", "end"}, &summary_.processes));
    TELLER_CHECK_OK(append_lines(part, out, "context", {"t"}, &summary_.context_records));
  }
  TELLER_CHECK_OK(publish(out, "events", event_files_, events_));
  TELLER_CHECK_OK(publish(out, "logs", {"logs.jsonl"}, summary_.log_lines));
  TELLER_CHECK_OK(publish(out, "processes", {"processes.jsonl"}, summary_.processes));
  TELLER_CHECK_OK(publish(out, "context", {"context.jsonl"}, summary_.context_records));
  describe(out);
  out.set_state("sealed");
  TELLER_CHECK_OK(not_stopped());
  TELLER_CHECK_OK(out.save());
  summary_.runs = parts_.size();
  summary_.event_files = event_files_.size();
  return {};
}

// Whether one of the two folders is the other, or lies in it.
bool overlap(const std::string& a, const std::string& b) {
  std::error_code error;
  const fs::path first = fs::weakly_canonical(a, error) / "";
  const fs::path second = fs::weakly_canonical(b, error) / "";
  return first.string().starts_with(second.string()) || second.string().starts_with(first.string());
}

}  // namespace

Result<MergeSummary> merge(const MergeOptions& options) {
  TELLER_CHECK_OK(RunFolder::check_place(options.output, options.overwrite));
  for (const std::string& path : options.runs) {
    if (!overlap(path, options.output)) continue;
    return Error{ErrorCode::kUsage,
                 "merging into " + options.output + ": it is, holds or lies in the run " + path,
                 "choose another place with -o"};
  }
  std::vector<Part> parts;
  std::set<std::string> digests;
  for (const std::string& path : options.runs) {
    TELLER_TRY(Part part, open_part(path));
    const std::string digest = events_digest(part);
    if (!digest.empty() && part.run.artifact_files("events").size() > 0 &&
        !digests.insert(digest).second) {
      return Error{ErrorCode::kUsage,
                   "merging " + path + ": another of the runs has the same events",
                   "name each run once"};
    }
    parts.push_back(std::move(part));
  }
  return Merger(options, std::move(parts)).run();
}

}  // namespace teller
