#include "stats/source_stats.h"

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <set>
#include <tuple>
#include <utility>

#include "base/bounded_counts.h"

namespace teller {

namespace {

using Interval = std::pair<std::int64_t, std::int64_t>;

std::int64_t union_ns(const std::vector<Interval>& sorted) {
  std::int64_t total = 0;
  std::int64_t covered = std::numeric_limits<std::int64_t>::min();
  for (const auto& [begin, end] : sorted) {
    if (end > covered) {
      // Unsigned: differences of hostile times may wrap, but not trap.
      total = static_cast<std::int64_t>(static_cast<std::uint64_t>(total) +
                                        static_cast<std::uint64_t>(end) -
                                        static_cast<std::uint64_t>(std::max(begin, covered)));
      covered = end;
    }
  }
  return total;
}

std::uint64_t overlaps(const std::vector<Interval>& sorted) {
  std::uint64_t count = 0;
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    if (sorted[i].first < sorted[i - 1].second) ++count;
  }
  return count;
}

bool is_device(EventKind kind) {
  return kind == EventKind::kKernel || kind == EventKind::kMemcpy || kind == EventKind::kMemset;
}

// Names of kinds for captures, which have no categories of their own for all of them.
const char* kind_name(EventKind kind) {
  switch (kind) {
    case EventKind::kRange:
    case EventKind::kRangePush:
    case EventKind::kRangeStart:
      return "range";
    case EventKind::kApiCall:
      return "call";
    case EventKind::kKernel:
      return "kernel";
    case EventKind::kMemcpy:
      return "memcpy";
    case EventKind::kMemset:
      return "memset";
    case EventKind::kSync:
      return "sync";
    case EventKind::kOverhead:
      return "overhead";
    case EventKind::kDeviceRange:
      return "device_range";
    case EventKind::kWindow:
      return "window";
    default:
      return nullptr;
  }
}

class SourceCounter {
 public:
  SourceCounter(const EventFile& file, const std::string& dialect)
      : file_(file),
        kineto_(dialect == "kineto"),
        by_process_(dialect != "kineto"),
        categories_(file.string_count(), 0) {
    for (StringId id = 0; id < file.string_count(); ++id) {
      const std::string_view text = file.string(id);
      if (text == "user_annotation") annotation_ = id;
      if (text == "cuda_runtime" || text == "cuda_driver" || text == "Runtime") apis_.insert(id);
    }
  }

  SourceStats count() {
    for (const auto block : file_.blocks()) {
      for (const EventRecord& event : block) add(event);
    }
    if (kineto_) name_categories();
    finish_annotations();
    bind();
    for (auto& [device, intervals] : by_device_) {
      std::sort(intervals.begin(), intervals.end());
      stats_.busy_ns[device] = union_ns(intervals);
    }
    for (auto& [stream, intervals] : by_stream_) {
      std::sort(intervals.begin(), intervals.end());
      stats_.same_stream_overlaps += overlaps(intervals);
    }
    return std::move(stats_);
  }

 private:
  using Id = std::pair<std::int64_t, std::uint64_t>;  // process, correlation id

  void add(const EventRecord& event) {
    const auto kind = static_cast<EventKind>(event.kind);
    if (kineto_) {
      if (is_complete(event) && event.category < categories_.size()) ++categories_[event.category];
      if (annotation_ != 0 && event.category == annotation_) names_.push_back(event.name);
    } else if (const char* name = kind_name(kind)) {
      ++stats_.complete_events[name];
    }
    if (is_call(event) && (event.flags & kFlagHasCorrelation) != 0) calls_.push_back(id_of(event));
    if (is_device(kind)) add_activity(event);
  }

  // Events with a begin and a duration in the source ("ph": "X"). A kind unknown to teller may be
  // one; a phase unknown to it says so in attrs.
  bool is_complete(const EventRecord& event) const {
    switch (static_cast<EventKind>(event.kind)) {
      case EventKind::kUnknown:
        return file_.string(event.attrs).substr(0, 6) != "{\"ph\":";
      case EventKind::kRange:
        return true;
      case EventKind::kRangePush:
      case EventKind::kRangeStart:
        return false;
      default:
        return kind_name(static_cast<EventKind>(event.kind)) != nullptr;
    }
  }

  // Kineto: the categories of CUDA and ROCm calls, whatever the phase; others by kind.
  bool is_call(const EventRecord& event) const {
    if (kineto_) return apis_.count(event.category) > 0;
    return static_cast<EventKind>(event.kind) == EventKind::kApiCall;
  }

  Id id_of(const EventRecord& event) const {
    return {by_process_ ? file_.track(event.track).pid : 0, event.correlation};
  }

  void add_activity(const EventRecord& event) {
    ++stats_.device_activities;
    if ((event.flags & kFlagHasCorrelation) != 0) activities_.push_back(id_of(event));
    if (event.end_ns == kOpenNs) return;  // how long it lasted is not known
    const TrackRecord& track = file_.track(event.track);
    const std::string device(file_.string(track.device_label));
    const Interval interval{event.begin_ns, event.end_ns};
    by_device_[device].push_back(interval);
    by_stream_[{device, std::string(file_.string(track.stream_label))}].push_back(interval);
  }

  void bind() {
    std::sort(calls_.begin(), calls_.end());
    std::sort(activities_.begin(), activities_.end());
    auto call = calls_.begin();
    for (const Id& activity : activities_) {
      call = std::lower_bound(call, calls_.end(), activity);
      if (call != calls_.end() && *call == activity) ++stats_.device_activities_bound;
    }
  }

  void name_categories() {
    for (StringId id = 0; id < categories_.size(); ++id) {
      if (categories_[id] > 0) {
        stats_.complete_events[std::string(file_.string(id))] += categories_[id];
      }
    }
    stats_.complete_events = bounded_counts(std::move(stats_.complete_events));
  }

  void finish_annotations() {
    std::sort(names_.begin(), names_.end());
    names_.erase(std::unique(names_.begin(), names_.end()), names_.end());
    std::vector<std::string>& texts = stats_.annotations;
    for (const StringId name : names_) texts.emplace_back(file_.string(name));
    std::sort(texts.begin(), texts.end());
    if (texts.size() > kMaxAnnotations) texts.resize(kMaxAnnotations);
  }

  const EventFile& file_;
  bool kineto_;
  bool by_process_;
  StringId annotation_ = 0;
  std::set<StringId> apis_;
  std::vector<std::uint64_t> categories_;  // complete events by category
  std::vector<StringId> names_;
  std::vector<Id> calls_;
  std::vector<Id> activities_;
  std::map<std::string, std::vector<Interval>> by_device_;
  std::map<std::pair<std::string, std::string>, std::vector<Interval>> by_stream_;
  SourceStats stats_;
};

}  // namespace

SourceStats count_source(const EventFile& file, const std::string& dialect) {
  return SourceCounter(file, dialect).count();
}

}  // namespace teller
