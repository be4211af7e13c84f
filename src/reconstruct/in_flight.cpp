// Finds the launches whose work never came to its end: what hangs, a profiler does not report, so
// that only the call is there. Each gets a node of its own that is open, as `teller trace` writes.
#include <algorithm>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

#include "base/json.h"
#include "base/json_fields.h"
#include "reconstruct/call_names.h"
#include "reconstruct/graph_captures.h"
#include "reconstruct/passes.h"
#include "reconstruct/range_around.h"
#include "reconstruct/stream_progress.h"

namespace teller {

namespace {

// A launch without activity is evidence of a hang if the process lived on for so long after it.
// Shorter than that, the capture may simply have ended before the work did.
constexpr std::int64_t kHangNs = 1'000'000'000;

// What a process launched.
struct Process {
  std::vector<std::uint32_t> unanswered;  // launches, items
  std::int64_t first_unanswered_ns = std::numeric_limits<std::int64_t>::max();
  std::uint64_t answered = 0;
  bool waits = false;  // a call that synchronises has not returned
  GraphCaptures captures;
  StreamProgress progress;
};

class InFlightFinder {
 public:
  explicit InFlightFinder(Workspace& work) : work_(work), around_(work.items) {
    const std::size_t size = work.items.size();
    answered_.assign(size, false);
    for (const std::uint32_t device : work.devices) answer(work.items[device].parent);
  }

  void find() {
    for (std::uint32_t thread = 0; thread < work_.threads.size(); ++thread) collect(thread);
    for (auto& [key, process] : processes_) leave_captured(process);
    for (const std::uint32_t device : work_.devices) note_ended(work_.items[device]);
    for (const auto& [key, process] : processes_) judge(key.first, process);
  }

 private:
  // The work of a driver's call is that of the runtime's call around it too.
  void answer(std::uint32_t index) {
    while (index != kNoIndex && work_.items[index].kind == ItemKind::kCall && !answered_[index]) {
      answered_[index] = true;
      index = work_.items[index].parent;
    }
  }

  void collect(std::uint32_t thread_index) {
    const Thread& thread = work_.threads[thread_index];
    for (std::uint32_t at = thread.first; at < thread.first + thread.count; ++at) {
      const std::uint32_t index = work_.order[at];
      const Item& item = work_.items[index];
      if (item.kind != ItemKind::kCall || (item.marks & kDropped) != 0) continue;
      const std::uint8_t facts = facts_of(item);
      if (facts == 0) continue;
      Process& process = processes_[{thread.source, thread.pid}];
      const bool begins = (facts & kCallBeginsCapture) != 0 && (item.flags & kNodeFailed) == 0;
      if (begins) process.captures.begin(thread_index, item.begin_ns);
      if ((facts & kCallEndsCapture) != 0) process.captures.end(thread_index, item.end_ns);
      if ((facts & kCallWaits) != 0) note_wait(item, facts, process);
      if ((facts & kCallLaunches) != 0) note_launch(index, process);
    }
  }

  void note_launch(std::uint32_t index, Process& process) {
    const Item& item = work_.items[index];
    // A driver's call says again what the runtime's call around it says.
    const bool inner = item.parent != kNoIndex &&
                       work_.items[item.parent].kind == ItemKind::kCall &&
                       (facts_of(work_.items[item.parent]) & kCallLaunches) != 0;
    if (inner || (item.flags & kNodeFailed) != 0) return;
    ++work_.counters.launches;
    if (answered_[index]) {
      ++process.answered;
    } else {
      process.unanswered.push_back(index);
    }
  }

  // What goes into a graph does not run.
  void leave_captured(Process& process) {
    process.captures.close();
    work_.counters.launches_into_graphs += std::erase_if(process.unanswered, [&](auto index) {
      const Item& launch = work_.items[index];
      return process.captures.hold(work_.thread_of_track[launch.track], launch.begin_ns);
    });
    for (const std::uint32_t index : process.unanswered) {
      process.first_unanswered_ns =
          std::min(process.first_unanswered_ns, work_.items[index].begin_ns);
    }
  }

  std::uint8_t facts_of(const Item& call) {
    return name_facts(work_, call.source, call.event->name).call;
  }

  void note_wait(const Item& call, std::uint8_t facts, Process& process) {
    if ((call.flags & kNodeOpen) != 0) {
      process.waits = true;
    } else if ((call.flags & kNodeFailed) != 0) {
      return;
    } else if ((facts & kCallWaitsForAll) != 0) {
      process.progress.note_device_wait(call.begin_ns);
    } else if ((facts & kCallWaitsForStream) != 0) {
      process.progress.note_stream_wait(named_stream(call), call.begin_ns);
    }
  }

  void note_ended(const Item& device) {
    if (device.parent == kNoIndex || (device.flags & (kNodeOpen | kNodeFailed)) != 0) return;
    const Item& call = work_.items[device.parent];
    if (call.kind != ItemKind::kCall) return;
    const Thread& thread = work_.threads[work_.thread_of_track[call.track]];
    const auto process = processes_.find({thread.source, thread.pid});
    if (process == processes_.end() || process->second.unanswered.empty()) return;
    StreamProgress& progress = process->second.progress;
    if (call.begin_ns < process->second.first_unanswered_ns) {
      return progress.note_used(range_around(call), device.track);
    }
    progress.note_ended(place_of(call), device.track, (device.flags & kNodeGraph) != 0);
  }

  LaunchPlace place_of(const Item& call) {
    return {named_stream(call), range_around(call), call.begin_ns, call.end_ns};
  }

  // Name of the innermost range around a call; kNoIndex for none.
  std::uint32_t range_around(const Item& call) {
    const std::uint32_t around = around_.of(static_cast<std::uint32_t>(&call - work_.items.data()));
    return around == kNoIndex ? kNoIndex : work_.items[around].event->name;
  }

  // Few dialects' calls name their stream: -1 in the others.
  std::int64_t named_stream(const Item& call) const {
    const std::string_view attrs = work_.sources[call.source].file.string(call.event->attrs);
    if (attrs.find("\"stream\"") == std::string_view::npos) return -1;
    return number_of(parse_json(attrs), "stream");
  }

  void judge(std::uint16_t source, const Process& process) {
    if (process.answered == 0 && !process.waits) {
      work_.counters.launches_without_device += process.unanswered.size();
      return;
    }
    std::vector<std::uint32_t> pending;
    for (const std::uint32_t index : process.unanswered) {
      if (process.progress.has_passed(place_of(work_.items[index]))) {
        ++work_.counters.launches_without_activity;
      } else {
        pending.push_back(index);
      }
    }
    const bool hangs = !work_.sources[source].lossy && !pending.empty() &&
                       (process.waits || is_old(source, pending));
    if (!hangs) {
      work_.counters.launches_at_end += pending.size();
      return;
    }
    for (const std::uint32_t index : pending) add_open(source, index);
  }

  bool is_old(std::uint16_t source, const std::vector<std::uint32_t>& launches) const {
    return std::any_of(launches.begin(), launches.end(), [&](std::uint32_t index) {
      return work_.sources[source].last_ns - work_.items[index].end_ns >= kHangNs;
    });
  }

  void add_open(std::uint16_t source, std::uint32_t launch) {
    const Item call = work_.items[launch];
    const nlohmann::ordered_json attrs =
        parse_json(work_.sources[source].file.string(call.event->attrs));
    Item item = call;
    item.kind = ItemKind::kInFlight;
    item.layer = Layer::kKernel;
    item.flags = kNodeOpen | kNodeSynthetic;
    if (name_facts(work_, source, call.event->name).graph_launch) item.flags |= kNodeGraph;
    item.marks = 0;
    item.parent = launch;
    item.end_ns = std::max(item.begin_ns, work_.sources[source].last_ns);
    item.track = stream_of(call, attrs);
    const auto index = static_cast<std::uint32_t>(work_.items.size());
    work_.in_flight_names[index] = text_of(attrs, "kernel");
    work_.items.push_back(item);
    work_.devices.push_back(index);
    ++work_.counters.launches_in_flight;
  }

  // Calls name their stream in few dialects: elsewhere all are on one that is not known.
  std::uint32_t stream_of(const Item& call, const nlohmann::ordered_json& attrs) {
    const std::int64_t stream = number_of(attrs, "stream");
    const Thread& thread = work_.threads[work_.thread_of_track[call.track]];
    const auto next = static_cast<std::uint32_t>(work_.thread_of_track.size());
    const auto [found, added] = streams_.try_emplace({call.source, thread.pid, stream}, next);
    if (added) add_track(call.source, thread.pid, stream);
    return found->second;
  }

  void add_track(std::uint16_t source, std::int64_t pid, std::int64_t stream) {
    auto& tracks = work_.chains.tracks;
    tracks.kind.push_back(static_cast<std::uint32_t>(TrackKind::kDeviceStream));
    tracks.source.push_back(source);
    tracks.pid.push_back(pid);
    tracks.tid.push_back(0);
    tracks.device.push_back(-1);
    tracks.stream.push_back(stream);
    const std::string name = stream < 0 ? "?" : std::to_string(stream);
    tracks.label.push_back(work_.chains.strings.intern("device ? stream " + name));
    work_.thread_of_track.push_back(static_cast<std::uint32_t>(work_.threads.size()));
    Thread added;
    added.source = source;
    added.pid = pid;
    work_.threads.push_back(added);
  }

  Workspace& work_;
  RangeAround around_;
  std::vector<bool> answered_;  // by item: a launch that owns an activity
  std::map<std::pair<std::uint16_t, std::int64_t>, Process> processes_;
  std::map<std::tuple<std::uint16_t, std::int64_t, std::int64_t>, std::uint32_t> streams_;
};

}  // namespace

void find_in_flight(Workspace& work) {
  InFlightFinder(work).find();
}

}  // namespace teller
