#include "simulate/recording.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <ctime>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/file.h"
#include "run_folder/event_file.h"

namespace teller::simulate {

using Json = nlohmann::ordered_json;

namespace {

constexpr std::int64_t kUnixOffsetNs = 1'790'000'000'000'000'000;
constexpr std::string_view kMadeBy = "simulate";

std::string text_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string_view category_of(Layer layer) {
  if (layer == Layer::kStep) return kCategoryStep;
  return layer == Layer::kFrontEnd ? kCategoryFrontEnd : kCategoryBackEnd;
}

Json meta_of(const RecordedProcess& process) {
  Json meta = {{"dialect", "capture"},
               {"source", "capture"},
               {"pid", process.pid},
               {"ppid", process.ppid},
               {"clock", {{"base", "CLOCK_MONOTONIC"}, {"unix_offset_ns", kUnixOffsetNs}}},
               {"argv", process.argv},
               {"python", "cpython 3.11.7"}};
  if (process.rank >= 0) {
    meta["rank"] = process.rank;
    meta["world_size"] = process.world_size;
  }
  meta["hooks"] = {{"targets", process.hook_targets},
                   {"installed", process.hook_targets},
                   {"missing", 0},
                   {"not_function", 0},
                   {"failed", 0},
                   {"invalid", 0},
                   {"not_imported", 0},
                   {"as_main", 0},
                   {"record_errors", 0},
                   {"own_errors", 0},
                   {"details", Json::array()}};
  return meta;
}

Json counts_of(std::uint64_t events, std::uint64_t ranges, std::uint64_t step_records) {
  return {{"records", events}, {"ranges", ranges},      {"step_records", step_records},
          {"dropped", 0},      {"dropped_ranges", 0},   {"cut", 0},
          {"without_ring", 0}, {"definitions_lost", 0}, {"device_dropped", 0},
          {"corrupt", 0},      {"invalid", 0},          {"bad_step_records", 0}};
}

}  // namespace

std::size_t Recording::add_process(RecordedProcess process) {
  processes_.push_back(std::move(process));
  return processes_.size() - 1;
}

std::uint32_t Recording::add_thread(std::size_t process, std::int64_t tid) {
  Track track;
  track.process = process;
  track.record.kind = static_cast<std::uint32_t>(TrackKind::kHostThread);
  track.record.pid = processes_[process].pid;
  track.record.tid = tid;
  track.record.name = texts_.intern(processes_[process].comm);
  tracks_.push_back(track);
  return static_cast<std::uint32_t>(tracks_.size() - 1);
}

std::uint32_t Recording::add_stream(std::size_t process, int device, int stream) {
  Track track;
  track.process = process;
  track.record.kind = static_cast<std::uint32_t>(TrackKind::kDeviceStream);
  track.record.pid = processes_[process].pid;
  track.record.device = device;
  track.record.context = 1;
  track.record.stream = stream;
  track.record.device_label = texts_.intern(std::to_string(device));
  track.record.stream_label = texts_.intern("stream " + std::to_string(stream));
  tracks_.push_back(track);
  return static_cast<std::uint32_t>(tracks_.size() - 1);
}

EventRecord& Recording::add(std::uint32_t track, EventKind kind, std::int64_t begin_ns,
                            std::int64_t end_ns) {
  Event event;
  event.order_ns = end_ns == kOpenNs ? begin_ns : end_ns;
  event.track = track;
  event.record.kind = static_cast<std::uint16_t>(kind);
  event.record.begin_ns = begin_ns;
  event.record.end_ns = end_ns;
  events_.push_back(event);
  return events_.back().record;
}

void Recording::push(std::uint32_t track, std::int64_t time_ns, std::string_view name,
                     Layer layer) {
  EventRecord& event = add(track, EventKind::kRangePush, time_ns, time_ns);
  event.name = texts_.intern(name);
  event.category = texts_.intern(category_of(layer));
  event.domain = texts_.intern(kTellerDomain);
  if (layer == Layer::kFrontEnd) event.flags |= kFlagPython;
  ++ranges_;
}

void Recording::pop(std::uint32_t track, std::int64_t time_ns) {
  pop_plain(track, time_ns, kTellerDomain);
}

void Recording::push_plain(std::uint32_t track, std::int64_t time_ns, std::string_view name,
                           std::string_view domain) {
  EventRecord& event = add(track, EventKind::kRangePush, time_ns, time_ns);
  event.name = texts_.intern(name);
  event.domain = texts_.intern(domain);
  ++ranges_;
}

void Recording::pop_plain(std::uint32_t track, std::int64_t time_ns, std::string_view domain) {
  add(track, EventKind::kRangePop, time_ns, time_ns).domain = texts_.intern(domain);
}

void Recording::step_record(std::uint32_t track, std::int64_t time_ns, std::string_view json) {
  EventRecord& event = add(track, EventKind::kStepRecord, time_ns, time_ns);
  event.category = texts_.intern(kCategoryRecord);
  event.domain = texts_.intern(kTellerDomain);
  event.attrs = texts_.intern(json);
  ++step_records_;
}

void Recording::call(std::uint32_t track, const TreeNode& node) {
  EventRecord& event = add(track, EventKind::kApiCall, node.begin_ns, node.end_ns);
  event.correlation = node.correlation;
  event.value = node.value;
  event.flags = kFlagHasCorrelation;
  if (node.is_driver) event.flags |= kFlagDriver;
  if (node.value != 0) event.flags |= kFlagFailed;
  event.name = texts_.intern(node.name);
  event.category = texts_.intern(node.is_driver ? "cuda_driver" : "cuda_runtime");
}

void Recording::kernel(std::uint32_t track, const TreeNode& node) {
  EventRecord& event = add(track, EventKind::kKernel, node.begin_ns, node.end_ns);
  event.correlation = node.correlation;
  event.flags = kFlagHasCorrelation;
  event.name = texts_.intern(node.name);
}

void Recording::log(std::size_t process, std::int64_t time_ns, std::string text) {
  lines_.push_back({time_ns, process, std::move(text)});
}

std::string Recording::clock_text(std::int64_t time_ns) {
  const std::time_t seconds = (time_ns + kUnixOffsetNs) / 1'000'000'000;
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%m-%d %H:%M:%S", &parts);
  return text;
}

Status Recording::write_events(const RunFolder& run, std::size_t process, std::string* file) {
  const RecordedProcess& info = processes_[process];
  char name[64];
  std::snprintf(name, sizeof name, "events/%04zu.%lld.tev", process,
                static_cast<long long>(info.pid));
  *file = name;
  TELLER_TRY(EventFileWriter out, EventFileWriter::create(run.file(*file), text_of(meta_of(info))));
  std::uint64_t events = 0;
  std::uint64_t ranges = 0;
  std::uint64_t records = 0;
  const auto id = [&](StringId text) { return out.intern(texts_.view(text)); };
  for (const Event& event : events_) {
    if (tracks_[event.track].process != process) continue;
    EventRecord record = event.record;
    record.name = id(record.name);
    record.category = id(record.category);
    record.domain = id(record.domain);
    record.attrs = id(record.attrs);
    TrackRecord track = tracks_[event.track].record;
    track.name = id(track.name);
    track.device_label = id(track.device_label);
    track.stream_label = id(track.stream_label);
    record.track = out.track(track);
    ++events;
    ranges += record.kind == static_cast<std::uint16_t>(EventKind::kRangePush);
    records += record.kind == static_cast<std::uint16_t>(EventKind::kStepRecord);
    TELLER_CHECK_OK(out.add(record));
  }
  return out.finish(text_of({{"counts", counts_of(events, ranges, records)}}));
}

Status Recording::write_logs(const RunFolder& run) {
  std::stable_sort(lines_.begin(), lines_.end(),
                   [](const Line& a, const Line& b) { return a.time_ns < b.time_ns; });
  std::string text;
  for (const Line& line : lines_) {
    text += text_of({{"t", line.time_ns},
                     {"stream", "output"},
                     {"pid", processes_[line.process].pid},
                     {"text", line.text}});
    text += '\n';
  }
  return write_file_atomic(run.file("logs.jsonl"), text);
}

Status Recording::write_processes(const RunFolder& run, std::int64_t end_ns) const {
  std::string text;
  for (std::size_t i = 0; i < processes_.size(); ++i) {
    const RecordedProcess& one = processes_[i];
    const auto apart = static_cast<std::int64_t>(i) * 3'000'000;
    text += text_of({{"pid", one.pid},
                     {"ppid", one.ppid},
                     {"start", kProgramStartNs + 4'000'000 + apart},
                     {"end", end_ns - apart / 2},
                     {"exit", i == 0 && signal_ == 0 ? Json(0) : Json()},
                     {"signal", i == 0 && signal_ != 0 ? Json(signal_) : Json()},
                     {"argv", one.argv},
                     {"comm", one.comm},
                     {"library", true}});
    text += '\n';
  }
  return write_file_atomic(run.file("processes.jsonl"), text);
}

void Recording::describe(RunFolder& run, std::int64_t end_ns) const {
  Json& manifest = run.manifest();
  const RecordedProcess& first = processes_.front();
  manifest["target"] = {{"argv", first.argv},
                        {"program", "/usr/bin/python3"},
                        {"cwd", "/srv/engine"},
                        {"environment", Json::array()},
                        {"start", kProgramStartNs},
                        {"exit_code", signal_ == 0 ? Json(0) : Json()},
                        {"signal", signal_ == 0 ? Json() : Json(signal_)},
                        {"pid", first.pid},
                        {"end", end_ns}};
  manifest["clock"] = {
      {"unit", "ns"}, {"base", "CLOCK_MONOTONIC"}, {"unix_offset_ns", kUnixOffsetNs}};
  manifest["host"] = {{"name", "node-0"}, {"kernel", "6.1.0"}, {"machine", "x86_64"}};
  manifest["trace"] = {{"flush_period_ms", 250}, {"max_bytes", 0},        {"duration_s", 0.0},
                       {"hooks", Json::array()}, {"logs", Json::array()}, {"notes", Json::array()}};
  Json counters = {
      {"trace.events", events_.size()},       {"trace.ranges", ranges_},
      {"trace.step_records", step_records_},  {"trace.log_lines", lines_.size()},
      {"trace.processes", processes_.size()}, {"trace.traced_processes", processes_.size()}};
  for (const char* name :
       {"events_dropped", "ranges_dropped", "texts_cut", "events_without_ring", "definitions_lost",
        "device_records_dropped", "rings_corrupt", "records_invalid", "step_records_invalid",
        "processes_refused", "log_bytes_lost", "output_bytes_lost"}) {
    counters[std::string("trace.") + name] = 0;
  }
  manifest["counters"] = counters;
}

Status Recording::write(RunFolder& run, std::int64_t end_ns) {
  const std::string folder = run.file("events");
  if (mkdir(folder.c_str(), 0777) != 0) return errno_error("creating " + folder, errno);
  std::stable_sort(events_.begin(), events_.end(),
                   [](const Event& a, const Event& b) { return a.order_ns < b.order_ns; });
  ArtifactInfo events;
  events.name = "events";
  events.made_by = kMadeBy;
  events.records = events_.size();
  for (std::size_t i = 0; i < processes_.size(); ++i) {
    std::string file;
    TELLER_CHECK_OK(write_events(run, i, &file));
    events.files.push_back(file);
  }
  TELLER_CHECK_OK(write_logs(run));
  TELLER_CHECK_OK(write_processes(run, end_ns));
  describe(run, end_ns);
  TELLER_CHECK_OK(run.publish(events));
  const auto publish = [&run](const char* name, const char* file, std::uint64_t records) {
    ArtifactInfo info;
    info.name = name;
    info.made_by = kMadeBy;
    info.files = {file};
    info.records = records;
    return run.publish(info);
  };
  TELLER_CHECK_OK(publish("logs", "logs.jsonl", lines_.size()));
  return publish("processes", "processes.jsonl", processes_.size());
}

}  // namespace teller::simulate
