// Reads the log lines of a run and aligns each to a request and a step.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <utility>

#include "base/json.h"
#include "base/mapped_file.h"
#include "reconstruct/interval_index.h"
#include "reconstruct/json_fields.h"
#include "reconstruct/log_ids.h"
#include "reconstruct/log_line.h"
#include "reconstruct/passes.h"

namespace teller {

namespace {

using Json = nlohmann::json;

// An indented line that comes later than this after another is not its continuation.
constexpr std::int64_t kContinuationNs = 1'000'000'000;

// The steps of a run by time.
class StepTimes {
 public:
  explicit StepTimes(const ChainsBuilder& chains) : steps_(chains.steps) {
    for (std::uint32_t step = 0; step < steps_.begin_ns.size(); ++step) {
      const bool later = latest_.empty() || steps_.end_ns[step] >= steps_.end_ns[latest_.back()];
      latest_.push_back(later ? step : latest_.back());
      all_.add(steps_.begin_ns[step], steps_.end_ns[step], step);
      const std::int64_t pid = chains.tracks.pid[chains.nodes.track[steps_.root[step]]];
      of_process_[pid].add(steps_.begin_ns[step], steps_.end_ns[step], step);
    }
    all_.build();
    for (auto& [pid, steps] : of_process_) steps.build();
  }

  // The step in flight at `time`: one of process `pid` before others, then the one that began last.
  std::uint32_t in_flight(std::int64_t time, std::int64_t pid) const {
    const auto own = of_process_.find(pid);
    const std::uint32_t found = own == of_process_.end() ? kNoIndex : last_at(own->second, time);
    return found != kNoIndex ? found : last_at(all_, time);
  }

  std::uint32_t nearest(std::int64_t time, std::int64_t window) const {
    const std::size_t after = all_.begun_by(time);
    std::uint32_t found = kNoIndex;
    if (after > 0 && time - steps_.end_ns[latest_[after - 1]] <= window) {
      found = latest_[after - 1];
      window = time - steps_.end_ns[found];
    }
    if (after < latest_.size() && steps_.begin_ns[after] - time < window) {
      found = static_cast<std::uint32_t>(after);
    }
    return found;
  }

 private:
  static std::uint32_t last_at(const IntervalIndex& steps, std::int64_t time) {
    const std::size_t at = steps.last_reaching(steps.begun_by(time), time);
    return at == IntervalIndex::kNone ? kNoIndex : steps.id(at);
  }

  const StepColumns<OwnedColumn>& steps_;
  std::vector<std::uint32_t> latest_;  // by step: the one that ends last up to it
  IntervalIndex all_;
  std::unordered_map<std::int64_t, IntervalIndex> of_process_;
};

// The steps of each request, in time order.
class RequestSteps {
 public:
  explicit RequestSteps(const ChainsBuilder& chains) : steps_(chains.steps) {
    const auto& rows = chains.rows;
    first_.assign(chains.requests.id.size() + 2, 0);
    for (const std::uint32_t request : rows.request) ++first_[request + 2];
    for (std::size_t i = 2; i < first_.size(); ++i) first_[i] += first_[i - 1];
    list_.resize(rows.step.size());
    for (std::size_t row = 0; row < rows.step.size(); ++row) {
      list_[first_[rows.request[row] + 1]++] = rows.step[row];
    }
  }

  // The request's step in flight at `time`, else its nearest; its last one for a line without time.
  std::uint32_t at(std::uint32_t request, std::int64_t time) const {
    if (request + 1 >= first_.size()) return kNoIndex;
    const auto begin = list_.begin() + first_[request];
    const auto end = list_.begin() + first_[request + 1];
    if (begin == end) return kNoIndex;
    if (time < 0) return *(end - 1);
    const auto after = std::upper_bound(begin, end, time, [&](std::int64_t t, std::uint32_t step) {
      return t < steps_.begin_ns[step];
    });
    if (after == begin) return *begin;
    const std::uint32_t before = *(after - 1);
    const bool next_nearer = after != end && time > steps_.end_ns[before] &&
                             steps_.begin_ns[*after] - time < time - steps_.end_ns[before];
    return next_nearer ? *after : before;
  }

 private:
  const StepColumns<OwnedColumn>& steps_;
  std::vector<std::size_t> first_;
  std::vector<std::uint32_t> list_;
};

// One line of logs.jsonl, and where it is aligned to.
struct Entry {
  std::int64_t time_ns = -1;
  std::int64_t pid = -1;
  std::string stream;
  std::string text;
  std::string level;
  bool continued = false;  // the rest of an over-long line
  std::uint32_t request = kNoIndex;
  std::uint32_t step = kNoIndex;
  LogRule rule = LogRule::kNone;
};

bool read_entry(std::string_view line, Entry& entry) {
  const Json json = parse_json(line);
  if (!json.is_object()) return false;
  const auto text = json.find("text");
  if (text == json.end() || !text->is_string()) return false;
  entry.text = text->get<std::string>();
  entry.time_ns = number_of(json, "t");
  entry.pid = number_of(json, "pid");
  entry.stream = text_of(json, "stream");
  entry.level = text_of(json, "level");
  entry.continued = number_of(json, "cont") == 1;
  return true;
}

class Aligner {
 public:
  Aligner(const LogOptions& options, Workspace& work)
      : options_(options),
        work_(work),
        matcher_(work.request_ids),
        times_(work.chains),
        requests_(work.chains) {}

  void add(Entry entry) {
    if (entry.time_ns > kTimeLimitNs) {
      entry.time_ns = kTimeLimitNs;
      ++work_.counters.times_clamped;
    }
    entry.time_ns = std::max<std::int64_t>(entry.time_ns, -1);
    const LogLine line = parse_log_line(entry.text);
    if (entry.level.empty()) entry.level = line.level;
    const std::int64_t owner = entry.pid;  // lines go on with lines of the same stream
    if (line.pid >= 0) entry.pid = line.pid;
    Entry& before = last_[{owner, entry.stream}];
    const bool goes_on = !before.stream.empty() || !before.level.empty() || before.time_ns >= 0;
    if (goes_on && continues(entry, line, before)) {
      inherit(entry, before);
    } else {
      align(entry, line);
    }
    count(entry);
    write(entry);
    entry.text.clear();
    before = std::move(entry);
  }

 private:
  static bool continues(const Entry& entry, const LogLine& line, const Entry& before) {
    if (entry.continued) return true;
    if (!continues_message(line)) return false;
    const bool timed = entry.time_ns >= 0 && before.time_ns >= 0;
    return !timed || entry.time_ns - before.time_ns <= kContinuationNs;
  }

  static void inherit(Entry& entry, const Entry& before) {
    if (entry.level.empty()) entry.level = before.level;
    entry.request = before.request;
    entry.step = before.step;
    entry.rule = before.rule;
  }

  void align(Entry& entry, const LogLine& line) {
    entry.request = matcher_.find(entry.text);
    if (entry.request == kNoIndex) entry.request = work_.request(stated_request(line.message));
    if (entry.request != kNoIndex) {
      see_request(work_, entry.request, entry.time_ns);
      entry.step = requests_.at(entry.request, entry.time_ns);
      if (entry.step != kNoIndex) entry.rule = LogRule::kRequest;
    }
    if (entry.step == kNoIndex && entry.time_ns >= 0) align_by_time(entry);
  }

  void align_by_time(Entry& entry) {
    entry.step = times_.in_flight(entry.time_ns, entry.pid);
    entry.rule = LogRule::kInFlight;
    if (entry.step != kNoIndex) return;
    entry.step = times_.nearest(entry.time_ns, options_.window_ns);
    entry.rule = entry.step == kNoIndex ? LogRule::kNone : LogRule::kNearest;
  }

  void count(const Entry& entry) {
    switch (entry.rule) {
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

  void write(const Entry& entry) {
    auto& logs = work_.chains.logs;
    Interner& strings = work_.chains.strings;
    logs.time_ns.push_back(entry.time_ns);
    logs.text.push_back(strings.intern(entry.text));
    logs.stream.push_back(strings.intern(entry.stream));
    logs.level.push_back(strings.intern(entry.level));
    logs.request.push_back(entry.request);
    logs.step.push_back(entry.step);
    logs.pid.push_back(entry.pid);
    logs.rule.push_back(static_cast<std::uint8_t>(entry.rule));
  }

  const LogOptions& options_;
  Workspace& work_;
  RequestMatcher matcher_;
  StepTimes times_;
  RequestSteps requests_;
  std::map<std::pair<std::int64_t, std::string>, Entry> last_;  // by process and stream
};

}  // namespace

Status align_logs(const RunFolder& run, const LogOptions& options, Workspace& work,
                  RecordBalance& balance) {
  Aligner aligner(options, work);
  for (const std::string& relative : run.artifact_files("logs")) {
    TELLER_TRY(const MappedFile file, MappedFile::open(run.file(relative), "log lines"));
    const std::string_view text = file.text();
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      const std::string_view line = text.substr(at, end - at);
      at = end + 1;
      if (line.empty()) continue;
      ++balance.records_in;
      Entry entry;
      if (read_entry(line, entry)) {
        ++balance.log_lines;
        aligner.add(std::move(entry));
      } else {
        ++balance.malformed;
        ++work.counters.log_lines_malformed;
      }
    }
  }
  return {};
}

}  // namespace teller
