// Opens the sources of a run and lays out their tracks and threads.
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <tuple>
#include <utility>

#include "base/json_fields.h"
#include "reconstruct/passes.h"

namespace teller {

namespace {

using Json = nlohmann::ordered_json;

// More sources than a node's column can number.
constexpr std::size_t kMaxSources = 0xffff;

void find_known_strings(Source& source) {
  for (StringId id = 1; id < source.file.string_count(); ++id) {
    const std::string_view text = source.file.string(id);
    if (text == kTellerDomain) source.teller_domain = id;
    if (text == kCategoryStep) source.step_category = id;
    if (text == kCategoryBackEnd) source.back_end_category = id;
    if (text == kCategoryRecord) source.record_category = id;
    if (text == "NCCL") source.nccl_domain = id;
    if (text == "fwdbwd") source.forward_backward = id;
  }
}

// Names of threads that META holds because the file named them behind their events. Of several
// that one thread has the first by text counts, as here the order of records decides nothing.
using ThreadNames = std::map<std::pair<std::string, std::string>, std::string>;
ThreadNames thread_names(const Json& meta) {
  ThreadNames names;
  const auto list = meta.find("thread_names");
  if (list == meta.end() || !list->is_array()) return names;
  for (const Json& entry : *list) {
    if (!entry.is_object()) continue;
    const std::string name = text_of(entry, "name");
    const auto [known, added] =
        names.emplace(std::pair(text_of(entry, "pid"), text_of(entry, "tid")), name);
    if (!added && name < known->second) known->second = name;
  }
  return names;
}

// Names of CUDA streams: by context where it is known, else by the stream's number alone.
using StreamNames = std::map<std::pair<std::int64_t, std::int64_t>, std::string>;
StreamNames stream_names(const Json& meta) {
  StreamNames names;
  const auto list = meta.find("cuda_names");
  if (list == meta.end() || !list->is_array()) return names;
  for (const Json& entry : *list) {
    if (!entry.is_object() || text_of(entry, "kind") != "stream") continue;
    const std::int64_t stream = number_of(entry, "stream");
    if (stream >= 0) names[{number_of(entry, "context"), stream}] = text_of(entry, "name");
  }
  return names;
}

std::string stream_name(const StreamNames& names, const TrackRecord& track) {
  auto found = names.find({track.context, track.stream});
  if (found == names.end()) found = names.find({-1, track.stream});
  return found == names.end() || track.stream < 0 ? "" : " (" + found->second + ")";
}

std::string track_label(const EventFile& file, const TrackRecord& track, const ThreadNames& names) {
  const std::string device(file.string(track.device_label));
  const std::string stream(file.string(track.stream_label));
  if (track.kind == static_cast<std::uint32_t>(TrackKind::kDeviceStream)) {
    const bool named = stream.compare(0, 7, "stream ") == 0;
    return "device " + device + (named ? " " : " stream ") + stream;
  }
  const std::string own(file.string(track.name));
  const auto found = names.find({std::to_string(track.pid), std::to_string(track.tid)});
  if (found != names.end() && (own.empty() || found->second < own)) return found->second;
  if (!own.empty()) return own;
  return device.empty() ? stream : device + " " + stream;
}

// The rank that META states; -1 where it states none, or nonsense.
std::int32_t rank_of(const Json& meta) {
  const std::int64_t rank = number_of(meta, "rank");
  return rank >= 0 && rank <= 1'000'000 ? static_cast<std::int32_t>(rank) : -1;
}

bool dropped_events(const Json& meta) {
  const auto counts = meta.find("counts");
  return counts != meta.end() && counts->is_object() && number_of(*counts, "dropped") > 0;
}

class Loader {
 public:
  explicit Loader(Workspace& work) : work_(work) {}

  void add(EventFile file) {
    const Json meta = Json::parse(file.meta_json(), nullptr, false);
    Source source;
    source.dialect = text_of(meta, "dialect");
    source.pid = number_of(meta, "pid");
    source.parent_pid = number_of(meta, "ppid");
    source.lossy = dropped_events(meta);
    source.name = text_of(meta, "source");
    source.clock = read_clock(meta);
    if (source.name.empty() || source.dialect == "capture") {
      source.name = "pid " + std::to_string(source.pid);
    }
    source.file = std::move(file);
    source.names.resize(source.file.string_count());
    find_known_strings(source);
    const auto index = static_cast<std::uint16_t>(work_.sources.size());
    work_.chains.sources.name.push_back(work_.chains.strings.intern(source.name));
    work_.chains.sources.rank.push_back(rank_of(meta));
    work_.chains.sources.host.push_back(work_.chains.strings.intern(text_of(meta, "host")));
    add_tracks(source, index, thread_names(meta), stream_names(meta));
    work_.sources.push_back(std::move(source));
  }

 private:
  void add_tracks(Source& source, std::uint16_t index, const ThreadNames& names,
                  const StreamNames& streams) {
    std::map<std::pair<std::int64_t, std::int64_t>, std::uint32_t> threads;
    // A file without tracks still has events on the empty track 0.
    source.tracks.resize(std::max<std::size_t>(source.file.track_count(), 1));
    for (const TrackId id : tracks_by_content(source)) {
      const TrackRecord& track = source.file.track(id);
      source.tracks[id] = static_cast<std::uint32_t>(work_.thread_of_track.size());
      const bool device = track.kind == static_cast<std::uint32_t>(TrackKind::kDeviceStream);
      add_track(track, index,
                track_label(source.file, track, names) +
                    (device ? stream_name(streams, track) : std::string()));
      const bool host = track.kind == static_cast<std::uint32_t>(TrackKind::kHostThread);
      const auto next = static_cast<std::uint32_t>(work_.threads.size());
      const std::uint32_t thread =
          host ? threads.emplace(std::make_pair(track.pid, track.tid), next).first->second : next;
      if (thread == next) {
        Thread added;
        added.source = index;
        added.pid = track.pid;
        added.tid = track.tid;
        added.host = host;
        work_.threads.push_back(added);
      }
      work_.thread_of_track.push_back(thread);
    }
  }

  // The file numbers tracks by first use: here their order must not depend on that of the events.
  static std::vector<TrackId> tracks_by_content(const Source& source) {
    std::vector<TrackId> ids(source.tracks.size());
    std::iota(ids.begin(), ids.end(), TrackId{0});
    const auto content = [&](TrackId id) {
      const TrackRecord& track = source.file.track(id);
      return std::tuple(track.kind, track.pid, track.tid, track.device, track.context, track.stream,
                        source.file.string(track.device_label),
                        source.file.string(track.stream_label), source.file.string(track.name));
    };
    std::sort(ids.begin(), ids.end(),
              [&](TrackId a, TrackId b) { return content(a) < content(b); });
    return ids;
  }

  void add_track(const TrackRecord& track, std::uint16_t source, const std::string& label) {
    auto& tracks = work_.chains.tracks;
    tracks.kind.push_back(track.kind);
    tracks.source.push_back(source);
    tracks.pid.push_back(track.pid);
    tracks.tid.push_back(track.tid);
    tracks.device.push_back(track.device);
    tracks.stream.push_back(track.stream);
    tracks.label.push_back(work_.chains.strings.intern(label));
  }

  Workspace& work_;
};

}  // namespace

Status load_sources(const RunFolder& run, Workspace& work) {
  TELLER_TRY(const auto files, run.require_artifact("events"));
  if (files.size() > kMaxSources) {
    return Error{ErrorCode::kUnsupported,
                 "reconstructing run " + run.path() + ": it has " + std::to_string(files.size()) +
                     " event files, this teller handles " + std::to_string(kMaxSources),
                 "import fewer files into one run"};
  }
  Loader loader(work);
  for (const std::string& relative : files) {
    TELLER_TRY(EventFile file, EventFile::open(run.file(relative)));
    loader.add(std::move(file));
  }
  return {};
}

}  // namespace teller
