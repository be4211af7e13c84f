// Reads the log lines of a run, puts them into entries, and aligns each entry to a request and a
// step.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/json.h"
#include "base/json_fields.h"
#include "base/mapped_file.h"
#include "logs/entries.h"
#include "logs/line.h"
#include "reconstruct/log_ids.h"
#include "reconstruct/log_places.h"
#include "reconstruct/passes.h"

namespace teller {

namespace {

using Json = nlohmann::json;

// One line of logs.jsonl.
struct RawLine {
  std::int64_t time_ns = -1;
  std::int64_t pid = -1;
  std::string host;  // in merged runs
  std::string stream;
  std::string text;
  std::string level;
  bool continued = false;  // the rest of an over-long line
};

bool read_line(std::string_view line, RawLine& raw) {
  const Json json = parse_json(line);
  if (!json.is_object()) return false;
  const auto text = json.find("text");
  if (text == json.end() || !text->is_string()) return false;
  raw.text = text->get<std::string>();
  raw.time_ns = number_of(json, "t");
  raw.pid = number_of(json, "pid");
  raw.host = text_of(json, "host");
  raw.stream = text_of(json, "stream");
  raw.level = text_of(json, "level");
  raw.continued = number_of(json, "cont") == 1;
  return true;
}

// "DP0 TP3": the ranks within the parallel groups that a line states.
std::string group_ranks(const LogRanks& ranks) {
  std::string text;
  const auto add = [&](const char* name, std::int32_t rank) {
    if (rank >= 0) text += (text.empty() ? "" : " ") + std::string(name) + std::to_string(rank);
  };
  add("DP", ranks.dp);
  add("PP", ranks.pp);
  add("TP", ranks.tp);
  add("EP", ranks.ep);
  return text;
}

// What the run says about the clocks of the host that it ran on.
LogClocks clocks_of(const RunFolder& run, const Workspace& work) {
  LogClocks clocks;
  SourceClock base = read_clock(run.manifest());
  for (const Source& source : work.sources) {
    if (!base.unix_offset_ns && source.clock.unix_offset_ns) base = source.clock;
  }
  clocks.unix_offset_ns = base.unix_offset_ns;
  clocks.run_is_monotonic = base.base == "CLOCK_MONOTONIC";
  const auto host = run.manifest().find("host");
  if (host == run.manifest().end() || !host->is_object()) return clocks;
  const std::int64_t zone = number_of(*host, "utc_offset_s", kTimeLimitNs);
  if (zone >= -86'400 && zone <= 86'400) clocks.zone_s = static_cast<std::int32_t>(zone);
  return clocks;
}

class Aligner {
 public:
  Aligner(const LogOptions& options, const LogClocks& clocks, Workspace& work)
      : options_(options),
        clocks_(clocks),
        work_(work),
        matcher_(work.request_ids),
        times_(work.chains),
        requests_(work.chains) {}

  void add(RawLine raw) {
    if (raw.time_ns > kTimeLimitNs) {
      raw.time_ns = kTimeLimitNs;
      ++work_.counters.times_clamped;
    }
    raw.time_ns = std::max<std::int64_t>(raw.time_ns, -1);
    LogFields fields;
    fields.message = raw.text;
    if (!raw.continued) fields = parse_line(raw.text);
    const auto row = static_cast<std::uint32_t>(work_.chains.logs.text.size());
    // Lines go on with lines of the same stream, whoever they name.
    const std::string stream = raw.host.empty() ? raw.stream : raw.host + ":" + raw.stream;
    const LogEntries::Line line{stream, raw.pid, raw.time_ns, raw.continued, &fields};
    const std::uint32_t head = entries_.place(line, row);
    write(raw, fields, head);
    if (head == row) {
      align(row, raw, fields.message);
      ++work_.counters.log_entries;
      return;
    }
    ++work_.counters.log_lines_continued;
    auto& logs = work_.chains.logs;
    if (logs.level[row] == 0) logs.level[row] = logs.level[head];
    // What a traceback says in its last line holds for all of it.
    if (logs.request[head] == kNoIndex) align_to_request(head, raw.text, fields.message);
  }

  // Lines of one entry stand where its first line does.
  void finish() {
    auto& logs = work_.chains.logs;
    for (std::size_t row = 0; row < logs.text.size(); ++row) {
      const std::uint32_t head = logs.entry[row];
      logs.request[row] = logs.request[head];
      logs.step[row] = logs.step[head];
      logs.rule[row] = logs.rule[head];
      count(static_cast<LogRule>(logs.rule[row]));
    }
  }

 private:
  // When the line was written, as far as is known: when it arrived, else what it says itself.
  std::int64_t time_of(std::uint32_t row) const {
    const auto& logs = work_.chains.logs;
    return logs.time_ns[row] >= 0 ? logs.time_ns[row] : logs.stamp_ns[row];
  }

  bool align_to_request(std::uint32_t row, std::string_view text, std::string_view message) {
    auto& logs = work_.chains.logs;
    std::uint32_t request = matcher_.find(text);
    if (request == kNoIndex) request = work_.request(stated_request(message));
    if (request == kNoIndex) return false;
    const std::int64_t time = time_of(row);
    see_request(work_, request, time);
    logs.request[row] = request;
    const std::uint32_t step = requests_.at(request, time);
    if (step == kNoIndex) return false;
    logs.step[row] = step;
    logs.rule[row] = static_cast<std::uint8_t>(LogRule::kRequest);
    return true;
  }

  void align(std::uint32_t row, const RawLine& raw, std::string_view message) {
    const std::int64_t time = time_of(row);
    if (align_to_request(row, raw.text, message) || time < 0) return;
    auto& logs = work_.chains.logs;
    LogRule rule = LogRule::kInFlight;
    std::uint32_t step = times_.in_flight(time, logs.pid[row], raw.host);
    if (step == kNoIndex) {
      step = times_.nearest(time, options_.window_ns);
      rule = step == kNoIndex ? LogRule::kNone : LogRule::kNearest;
    }
    logs.step[row] = step;
    logs.rule[row] = static_cast<std::uint8_t>(rule);
  }

  void count(LogRule rule) {
    switch (rule) {
      case LogRule::kNone:
        ++work_.counters.logs_unaligned;
        return;
      case LogRule::kRequest:
        ++work_.counters.logs_by_request;
        return;
      case LogRule::kInFlight:
        ++work_.counters.logs_in_flight;
        return;
      case LogRule::kNearest:
        ++work_.counters.logs_nearest;
        return;
    }
  }

  std::int64_t stamp_of(const RawLine& raw, const LogFields& fields) const {
    const auto arrival = raw.time_ns >= 0 ? std::optional(raw.time_ns) : std::nullopt;
    const std::int64_t stamp = resolve_stamp(fields.stamp, clocks_, arrival).value_or(-1);
    return stamp <= kTimeLimitNs ? std::max<std::int64_t>(stamp, -1) : -1;
  }

  void write(const RawLine& raw, const LogFields& fields, std::uint32_t head) {
    auto& logs = work_.chains.logs;
    Interner& strings = work_.chains.strings;
    logs.time_ns.push_back(raw.time_ns);
    logs.text.push_back(strings.intern(raw.text));
    logs.stream.push_back(strings.intern(raw.stream));
    logs.level.push_back(strings.intern(raw.level.empty() ? fields.level : raw.level));
    logs.request.push_back(kNoIndex);
    logs.step.push_back(kNoIndex);
    logs.pid.push_back(fields.pid >= 0 ? fields.pid : raw.pid);
    logs.rule.push_back(static_cast<std::uint8_t>(LogRule::kNone));
    logs.entry.push_back(head);
    logs.format.push_back(strings.intern(log_format_name(fields.format)));
    logs.process.push_back(strings.intern(fields.process));
    logs.source.push_back(strings.intern(fields.source));
    logs.ranks.push_back(strings.intern(group_ranks(fields.ranks)));
    logs.rank.push_back(fields.ranks.global);
    logs.stamp_ns.push_back(stamp_of(raw, fields));
  }

  const LogOptions& options_;
  LogClocks clocks_;
  Workspace& work_;
  RequestMatcher matcher_;
  StepTimes times_;
  RequestSteps requests_;
  LogEntries entries_;
};

}  // namespace

Status align_logs(const RunFolder& run, const LogOptions& options, Workspace& work,
                  RecordBalance& balance) {
  TELLER_CHECK_OK(run.check_listed("logs"));
  Aligner aligner(options, clocks_of(run, work), work);
  for (const std::string& relative : run.artifact_files("logs")) {
    TELLER_TRY(const MappedFile file, MappedFile::open(run.file(relative), "log lines"));
    const std::string_view text = file.text();
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      const std::string_view line = text.substr(at, end - at);
      at = end + 1;
      if (line.empty()) continue;
      ++balance.records_in;
      RawLine raw;
      if (read_line(line, raw)) {
        ++balance.log_lines;
        aligner.add(std::move(raw));
      } else {
        ++balance.malformed;
        ++work.counters.log_lines_malformed;
      }
    }
  }
  aligner.finish();
  return {};
}

}  // namespace teller
