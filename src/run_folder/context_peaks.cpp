#include "run_folder/context_peaks.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/mapped_file.h"

namespace teller {

namespace {

using Json = nlohmann::ordered_json;

// Processes, groups and endpoints beyond this are not told apart.
constexpr std::size_t kMaxKeys = 256;

std::optional<double> number(const Json& record, const char* key) {
  const auto found = record.find(key);
  if (found == record.end() || !found->is_number()) return std::nullopt;
  return found->get<double>();
}

std::string text(const Json& record, const char* key) {
  const auto found = record.find(key);
  return found != record.end() && found->is_string() ? found->get<std::string>() : std::string();
}

// A value over time: its range, and how much it grew.
class Track {
 public:
  void see(std::optional<double> value) {
    if (!value) return;
    first_ = seen_ ? first_ : *value;
    least_ = seen_ ? std::min(least_, *value) : *value;
    most_ = seen_ ? std::max(most_, *value) : *value;
    last_ = *value;
    seen_ = true;
  }
  bool seen() const { return seen_; }
  double least() const { return least_; }
  double most() const { return most_; }
  double last() const { return last_; }
  double growth() const { return last_ - first_; }

 private:
  bool seen_ = false;
  double first_ = 0;
  double least_ = 0;
  double most_ = 0;
  double last_ = 0;
};

Json whole(double value) {
  return static_cast<std::int64_t>(std::clamp(value, -9e18, 9e18));
}

// What is tracked of one process, group, GPU or endpoint.
struct Series {
  std::map<std::string, Track> tracks;
  std::map<std::string, std::uint64_t> counts;  // samples with a throttle reason, Xid numbers
  std::optional<double> last_t;
  std::optional<double> last_cpu_ns;

  void see(const Json& record, const char* key) { tracks[key].see(number(record, key)); }
  const Track& track(const std::string& key) const {
    static const Track kNone;
    const auto found = tracks.find(key);
    return found == tracks.end() ? kNone : found->second;
  }
  void put_most(Json& json, const char* name, const char* key) const {
    if (track(key).seen()) json[name] = whole(track(key).most());
  }
  void put_growth(Json& json, const char* name, const char* key) const {
    if (track(key).seen()) json[name] = whole(track(key).growth());
  }
};

using Group = std::map<std::string, Series>;

class Collector {
 public:
  void add(const Json& record) {
    ++records_;
    const std::string kind = text(record, "kind");
    if (kind == "process") add_process(record);
    if (kind == "host") add_host(record);
    if (kind == "cgroup") add_cgroup(record);
    if (kind == "gpu" || kind == "gpu_event") add_gpu(record);
    if (kind == "metrics") add_metrics(record);
  }
  void add_malformed() { ++malformed_; }

  Json make() const {
    Json json = {{"records", records_}};
    if (malformed_ > 0) json["malformed"] = malformed_;
    for (const auto& [pid, series] : processes_) json["processes"].push_back(process(pid, series));
    if (host_.track("load1").seen()) json["host"]["load_max"] = host_.track("load1").most();
    if (host_.track("memory_available").seen()) {
      json["host"]["memory_available_min"] = whole(host_.track("memory_available").least());
    }
    for (const auto& [path, series] : cgroups_) json["cgroups"].push_back(cgroup(path, series));
    for (const auto& [gpu, series] : gpus_) json["gpus"].push_back(gpu_json(gpu, series));
    for (const auto& [url, series] : engines_) json["engines"].push_back(engine(url, series));
    return json;
  }

 private:
  static Series* at(Group& group, const std::string& key) {
    if (group.size() >= kMaxKeys && !group.contains(key)) return nullptr;
    return &group[key];
  }

  void add_process(const Json& record) {
    const auto pid = number(record, "pid");
    Series* const series = pid ? at(processes_, whole(*pid).dump()) : nullptr;
    if (series == nullptr) return;
    for (const char* key : {"rss", "major_faults", "threads"}) series->see(record, key);
    const auto t = number(record, "t");
    const auto user = number(record, "user_ns");
    const auto sys = number(record, "sys_ns");
    if (!t || !user || !sys) return;
    const double cpu = *user + *sys;
    // CPU time comes in steps of 10 ms: shorter intervals say little.
    if (series->last_t && *t - *series->last_t > 5e8) {
      series->tracks["cores"].see((cpu - *series->last_cpu_ns) / (*t - *series->last_t));
    }
    series->last_t = t;
    series->last_cpu_ns = cpu;
    series->tracks["cpu_ns"].see(cpu);
  }

  void add_host(const Json& record) {
    for (const char* key : {"load1", "memory_available"}) host_.see(record, key);
  }

  void add_cgroup(const Json& record) {
    std::string path = text(record, "path");
    if (path.empty()) path = text(record, "cpu_path") + " " + text(record, "memory_path");
    Series* const series = at(cgroups_, path);
    if (series == nullptr) return;
    for (const char* key : {"cpu_limit", "memory_limit", "periods", "throttled_periods",
                            "throttled_ns", "memory_bytes", "oom_kills"}) {
      series->see(record, key);
    }
  }

  void add_gpu(const Json& record) {
    const auto gpu = number(record, "gpu");
    Series* const series = at(gpus_, gpu ? whole(*gpu).dump() : "?");
    if (series == nullptr) return;
    for (const char* key : {"power_mw", "memory_used", "sm_clock_mhz", "celsius", "ecc_uncorrected",
                            "busy_percent"}) {
      series->see(record, key);
    }
    if (const auto xid = number(record, "xid")) ++series->counts["xid " + whole(*xid).dump()];
    const auto reasons = record.find("throttle");
    if (reasons == record.end() || !reasons->is_array()) return;
    for (const Json& reason : *reasons) {
      if (reason.is_string() && reason != "idle" && series->counts.size() < kMaxKeys) {
        ++series->counts["throttled " + reason.get<std::string>()];
      }
    }
  }

  void add_metrics(const Json& record) {
    Series* const series = at(engines_, text(record, "url"));
    const auto values = record.find("series");
    if (series == nullptr) return;
    if (values == record.end() || !values->is_object()) {
      ++series->counts["failures"];
      return;
    }
    std::map<std::string, double> sums;  // over labels: engines of one server
    for (const auto& [name, value] : values->items()) {
      if (!value.is_number()) continue;
      const std::string key = meaning(name.substr(0, name.find('{')));
      double& sum = sums.emplace(key, 0).first->second;
      sum = key == "kv_usage" ? std::max(sum, value.get<double>()) : sum + value.get<double>();
    }
    for (const auto& [key, value] : sums) series->tracks[key].see(value);
  }

  static std::string meaning(const std::string& name) {
    if (name == "vllm:num_requests_running" || name == "sglang:num_running_reqs") return "running";
    if (name == "vllm:num_requests_waiting" || name == "sglang:num_queue_reqs") return "waiting";
    if (name == "vllm:kv_cache_usage_perc" || name == "vllm:gpu_cache_usage_perc" ||
        name == "sglang:token_usage") {
      return "kv_usage";
    }
    if (name == "vllm:num_preemptions_total" || name == "vllm:num_preemptions") {
      return "preemptions";
    }
    if (name.ends_with(":prompt_tokens_total")) return "prompt_tokens";
    if (name.ends_with(":generation_tokens_total")) return "generation_tokens";
    return "";
  }

  static Json process(const std::string& pid, const Series& series) {
    Json json = {{"pid", Json::parse(pid)}};
    if (series.track("cores").seen()) json["cores_max"] = series.track("cores").most();
    if (series.track("cpu_ns").seen()) json["cpu_ns"] = whole(series.track("cpu_ns").last());
    series.put_most(json, "rss_max", "rss");
    series.put_most(json, "threads_max", "threads");
    series.put_growth(json, "major_faults", "major_faults");
    return json;
  }

  static Json cgroup(const std::string& path, const Series& series) {
    Json json = {{"path", path}};
    const Track& limit = series.track("cpu_limit");
    json["cpu_limit"] = limit.seen() ? Json(limit.last()) : Json();
    json["memory_limit"] =
        series.track("memory_limit").seen() ? whole(series.track("memory_limit").last()) : Json();
    series.put_most(json, "memory_max", "memory_bytes");
    series.put_growth(json, "periods", "periods");
    series.put_growth(json, "throttled_periods", "throttled_periods");
    series.put_growth(json, "throttled_ns", "throttled_ns");
    series.put_growth(json, "oom_kills", "oom_kills");
    return json;
  }

  static Json gpu_json(const std::string& gpu, const Series& series) {
    Json json = {{"gpu", gpu}};
    series.put_most(json, "power_mw_max", "power_mw");
    series.put_most(json, "memory_used_max", "memory_used");
    series.put_most(json, "celsius_max", "celsius");
    series.put_most(json, "busy_percent_max", "busy_percent");
    if (series.track("sm_clock_mhz").seen()) {
      json["sm_clock_mhz_min"] = whole(series.track("sm_clock_mhz").least());
    }
    series.put_growth(json, "ecc_uncorrected", "ecc_uncorrected");
    for (const auto& [what, count] : series.counts) json["samples"][what] = count;
    return json;
  }

  static Json engine(const std::string& url, const Series& series) {
    Json json = {{"url", url}};
    series.put_most(json, "running_max", "running");
    series.put_most(json, "waiting_max", "waiting");
    if (series.track("kv_usage").seen()) json["kv_usage_max"] = series.track("kv_usage").most();
    for (const char* key : {"preemptions", "prompt_tokens", "generation_tokens"}) {
      series.put_growth(json, key, key);
    }
    for (const auto& [what, count] : series.counts) json[what] = count;
    return json;
  }

  std::uint64_t records_ = 0;
  std::uint64_t malformed_ = 0;
  Group processes_;
  Series host_;
  Group cgroups_;
  Group gpus_;
  Group engines_;
};

}  // namespace

Result<Json> context_peaks(const RunFolder& run) {
  TELLER_CHECK_OK(run.check_listed("context"));
  const auto files = run.artifact_files("context");
  if (files.empty()) return Json();
  Collector collector;
  for (const std::string& relative : files) {
    TELLER_TRY(const MappedFile file, MappedFile::open(run.file(relative), "context"));
    std::string_view rest = file.text();
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      const Json record = parse_json(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
      if (record.is_object()) {
        collector.add(record);
      } else {
        collector.add_malformed();
      }
    }
  }
  return collector.make();
}

}  // namespace teller
